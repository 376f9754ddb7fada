package house.tea.web;

/**
 * What the listing controllers have in common. Subclasses carry the annotation:
 * @RestController must not stand here, or Spring would try to make one of these.
 */
public abstract class PagedController {

    protected int boundedSize(Integer asked) {
        return asked == null ? 20 : Math.max(1, Math.min(asked, 100));
    }
}
