package house.tea.catalog;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.web.servlet.WebMvcTest;
import org.springframework.test.web.servlet.MockMvc;

@WebMvcTest(ProductController.class)
class ProductControllerTest {

    @Autowired
    private MockMvc mvc;

    @Test
    void listsProducts() throws Exception {
        mvc.perform(get("/products")).andExpect(status().isOk());
    }

    @Test
    void showsOne() throws Exception {
        mvc.perform(get("/products/1")).andExpect(status().isOk());
    }
}
