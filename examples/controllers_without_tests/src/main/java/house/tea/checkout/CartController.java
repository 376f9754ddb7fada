package house.tea.checkout;

import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/cart")
public class CartController {

    private final CartService cartService;

    public CartController(CartService cartService) {
        this.cartService = cartService;
    }

    @GetMapping("/{id}")
    public Cart get(@PathVariable long id) {
        return cartService.byId(id);
    }

    @PostMapping
    public Cart create(@RequestBody Cart body) {
        return cartService.save(body);
    }

    @DeleteMapping("/{id}")
    public void delete(@PathVariable long id) {
        cartService.remove(id);
    }
}
