package house.tea.orders;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/returns")
public class ReturnController {

    private final ReturnService returnService;

    public ReturnController(ReturnService returnService) {
        this.returnService = returnService;
    }

    @GetMapping("/{id}")
    public ReturnSlip get(@PathVariable long id) {
        return returnService.byId(id);
    }

    @PostMapping
    public ReturnSlip create(@RequestBody ReturnSlip body) {
        return returnService.save(body);
    }
}
