package house.tea.billing;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.web.servlet.WebMvcTest;
import org.springframework.test.web.servlet.MockMvc;

@WebMvcTest(PaymentController.class)
class PaymentControllerIT {

    @Autowired
    private MockMvc mvc;

    @Test
    void anEmptyBodyIsRefused() throws Exception {
        mvc.perform(post("/payments")).andExpect(status().isBadRequest());
    }
}
