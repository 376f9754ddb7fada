package house.tea.checkout;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.delete;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.web.servlet.WebMvcTest;
import org.springframework.test.web.servlet.MockMvc;

@WebMvcTest(CartController.class)
class CartControllerTests {

    @Autowired
    private MockMvc mvc;

    @Test
    void showsTheCart() throws Exception {
        mvc.perform(get("/cart/1")).andExpect(status().isOk());
    }

    @Test
    void emptiesTheCart() throws Exception {
        mvc.perform(delete("/cart/1")).andExpect(status().isOk());
    }
}
