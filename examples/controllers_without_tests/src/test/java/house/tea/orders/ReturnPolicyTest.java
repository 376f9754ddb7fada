package house.tea.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalDate;
import org.junit.jupiter.api.Test;

class ReturnPolicyTest {

    @Test
    void aReturnIsPossibleForThirtyDays() {
        ReturnPolicy policy = new ReturnPolicy(30);
        assertThat(policy.allows(LocalDate.of(2024, 5, 1), LocalDate.of(2024, 5, 31))).isTrue();
        assertThat(policy.allows(LocalDate.of(2024, 5, 1), LocalDate.of(2024, 6, 1))).isFalse();
    }
}
