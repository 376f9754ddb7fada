package house.tea.orders;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.web.servlet.WebMvcTest;
import org.springframework.test.web.servlet.MockMvc;

@WebMvcTest(OrderController.class)
class OrderControllerTest {

    @Autowired
    private MockMvc mvc;

    @Test
    void listsOrders() throws Exception {
        mvc.perform(get("/orders")).andExpect(status().isOk());
    }

    @Test
    void anUnknownOrderIsNotFound() throws Exception {
        mvc.perform(get("/orders/999999")).andExpect(status().isNotFound());
    }
}
