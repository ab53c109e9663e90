package example;

import static org.springframework.security.config.Customizer.withDefaults;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.security.oauth2.server.resource.autoconfigure.OAuth2ResourceServerProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.oauth2.jwt.JwtClaimValidator;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application with Spring Security: a sign-in, and APIs that take opaque tokens and JWTs. */
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
  SecurityFilterChain jwt(HttpSecurity http) throws Exception {
    return http.securityMatcher("/jwt")
        .authorizeHttpRequests(requests -> requests.anyRequest().hasAuthority("SCOPE_jwt.read"))
        .oauth2ResourceServer(server -> server.jwt(withDefaults()))
        .build();
  }

  /** The decoder that Spring Boot makes rejects the type of access tokens, at+jwt (RFC 9068), and takes ID tokens. */
  @Bean
  JwtDecoder jwtDecoder(OAuth2ResourceServerProperties properties) {
    var jwt = properties.getJwt();
    var decoder = NimbusJwtDecoder.withIssuerLocation(jwt.getIssuerUri()).validateType(false).build();
    decoder.setJwtValidator(
        JwtValidators.createAtJwtValidator()
            .issuer(jwt.getIssuerUri())
            .audience(jwt.getAudiences().get(0))
            // Spring requires a validator; tokens of every client are accepted.
            .validators(all -> all.put("client_id", new JwtClaimValidator<>("client_id", id -> id != null)))
            .build());
    return decoder;
  }

  @Bean
  @Order(3)
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

  @GetMapping({"/opaque", "/jwt"})
  Map<String, String> api(Authentication caller) {
    return Map.of("sub", caller.getName());
  }
}
