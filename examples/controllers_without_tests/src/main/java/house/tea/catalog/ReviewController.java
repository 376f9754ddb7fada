package house.tea.catalog;

import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/reviews")
public class ReviewController {

    private final ReviewService reviewService;

    public ReviewController(ReviewService reviewService) {
        this.reviewService = reviewService;
    }

    @GetMapping("/{id}")
    public Review get(@PathVariable long id) {
        return reviewService.byId(id);
    }

    @PostMapping
    public Review create(@RequestBody Review body) {
        return reviewService.save(body);
    }

    @DeleteMapping("/{id}")
    public void delete(@PathVariable long id) {
        reviewService.remove(id);
    }
}
