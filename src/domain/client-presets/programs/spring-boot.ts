import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const springBoot: Preset = {
  slug: 'spring-boot',
  name: 'Spring Boot',
  category: 'library',
  url: { example: 'https://app.example.org' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/login/oauth2/code/latchkey'],
    post_logout_redirect_uris: ['{url}', '{url}/'],
    backchannel_logout_uri: '{url}/logout/connect/back-channel/latchkey',
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: 'Map the claim to authorities with a `GrantedAuthoritiesMapper`.',
  steps: [
    {
      kind: 'file',
      name: 'application.properties',
      language: 'properties',
      content: `spring.security.oauth2.client.registration.latchkey.client-id={client_id}
spring.security.oauth2.client.registration.latchkey.client-secret={client_secret}
spring.security.oauth2.client.registration.latchkey.scope=openid,profile,email
spring.security.oauth2.client.provider.latchkey.issuer-uri={issuer}
spring.security.oauth2.client.provider.latchkey.user-name-attribute=preferred_username
`,
    },
  ],
  signOut: {
    fromProgram: 'With `OidcClientInitiatedLogoutSuccessHandler`.',
    fromService: 'With `oidcLogout(logout -> logout.backChannel(withDefaults()))`.',
  },
  notes: [
    { topic: 'Start', text: 'Spring reads the discovery document when it starts. Start Latchkey first.' },
    { topic: 'https behind a proxy', text: '`server.forward-headers-strategy=framework`' },
  ],
  checked: tested('library', 'Spring Boot', '4.0.7', 'spring'),
};
