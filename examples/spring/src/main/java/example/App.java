package example;

import static org.springframework.security.config.Customizer.withDefaults;

import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.MediaType;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.util.HtmlUtils;

/** A Spring Boot app that signs users in with OpenID Connect, and shows who they are. */
@SpringBootApplication
@RestController
public class App {
  public static void main(String[] args) {
    SpringApplication.run(App.class, args);
  }

  @Bean
  SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
    var signOut = new OidcClientInitiatedLogoutSuccessHandler(clients);
    signOut.setPostLogoutRedirectUri("{baseUrl}/");
    return http.authorizeHttpRequests(
            requests -> requests.requestMatchers("/", "/error").permitAll().anyRequest().authenticated())
        .oauth2Login(withDefaults())
        .logout(logout -> logout.logoutSuccessHandler(signOut))
        .build();
  }

  @GetMapping(path = "/", produces = MediaType.TEXT_HTML_VALUE)
  String home(@AuthenticationPrincipal OidcUser user, CsrfToken token) {
    if (user == null) {
      return "<p><a href=\"/oauth2/authorization/latchkey\">Sign in</a></p>";
    }
    var name = user.getFullName() == null ? user.getSubject() : user.getFullName();
    return """
        <p>Hello, %s.</p>
        <form method="post" action="/logout">
          <input type="hidden" name="%s" value="%s">
          <button>Sign out</button>
        </form>
        """
        .formatted(HtmlUtils.htmlEscape(name), token.getParameterName(), token.getToken());
  }

  @GetMapping("/me")
  Map<String, String> me(@AuthenticationPrincipal OidcUser user) {
    var facts = new LinkedHashMap<String, String>();
    facts.put("sub", user.getSubject());
    facts.put("name", user.getFullName());
    facts.put("email", user.getEmail());
    return facts;
  }
}
