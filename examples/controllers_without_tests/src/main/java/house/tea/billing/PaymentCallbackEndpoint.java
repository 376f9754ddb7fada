package house.tea.billing;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/payments/callback")
public class PaymentCallbackEndpoint {

    private final PaymentCallbackService paymentCallbackService;

    public PaymentCallbackEndpoint(PaymentCallbackService paymentCallbackService) {
        this.paymentCallbackService = paymentCallbackService;
    }

    @PostMapping
    public CallbackNote create(@RequestBody CallbackNote body) {
        return paymentCallbackService.save(body);
    }
}
