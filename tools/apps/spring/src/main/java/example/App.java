package example;

import static org.springframework.security.config.Customizer.withDefaults;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application with Spring Security: a sign-in, and an API that takes opaque tokens. */
@SpringBootApplication
@RestController
public class App {
  public static void main(String[] args) {
    SpringApplication.run(App.class, args);
  }

  @Bean
  @Order(1)
  SecurityFilterChain opaque(HttpSecurity http) throws Exception {
    return http.securityMatcher("/opaque")
        .authorizeHttpRequests(requests -> requests.anyRequest().hasAuthority("SCOPE_opaque.read"))
        .oauth2ResourceServer(server -> server.opaqueToken(withDefaults()))
        .build();
  }

  @Bean
  @Order(2)
  SecurityFilterChain signIn(HttpSecurity http) throws Exception {
    return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2Login(login -> login.defaultSuccessUrl("/me"))
        .oidcLogout(logout -> logout.backChannel(withDefaults()))
        .build();
  }

  @GetMapping("/me")
  Map<String, String> me(@AuthenticationPrincipal OidcUser user) {
    return Map.of("sub", user.getSubject(), "name", user.getFullName(), "email", user.getEmail());
  }

  @GetMapping("/opaque")
  Map<String, String> api(Authentication caller) {
    return Map.of("sub", caller.getName());
  }
}
