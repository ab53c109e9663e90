import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const homeAssistant: Preset = {
  slug: 'home-assistant',
  name: 'Home Assistant through oauth2-proxy',
  category: 'home',
  url: { example: 'https://home.example.org', note: 'The URL under which oauth2-proxy serves Home Assistant.' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/oauth2/callback'],
    post_logout_redirect_uris: ['{url}/'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: '`allowed_groups` of oauth2-proxy admits only members of one of these groups.',
  steps: [
    {
      kind: 'text',
      text:
        'Home Assistant has no OpenID Connect sign-in. oauth2-proxy in front of it admits only your users, who then sign ' +
        'in to Home Assistant as before.',
    },
    {
      kind: 'file',
      name: 'oauth2-proxy.cfg',
      language: 'toml',
      content: `provider = "oidc"
oidc_issuer_url = "{issuer}"
client_id = "{client_id}"
client_secret = "{client_secret}"
redirect_url = "{url}/oauth2/callback"
scope = "openid profile email groups"
allowed_groups = ["household"]
code_challenge_method = "S256"
insecure_oidc_skip_nonce = false
email_domains = ["*"]
cookie_secret = "REPLACE" # openssl rand -base64 32 | tr -- '+/' '-_'
cookie_refresh = "4m"
upstreams = ["http://127.0.0.1:8123/"]
`,
    },
    {
      kind: 'file',
      name: 'configuration.yaml of Home Assistant',
      language: 'yml',
      content: `http:
  use_x_forwarded_for: true
  trusted_proxies:
    - 127.0.0.1
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    {
      topic: 'Mobile apps',
      text:
        'They call the API with tokens of Home Assistant and cannot sign in at a proxy. ' +
        '`skip_auth_routes = ["^/api/", "^/auth/"]` leaves these paths to Home Assistant.',
    },
    {
      topic: '400 Bad Request',
      text: 'The address of oauth2-proxy is missing in `trusted_proxies`.',
    },
  ],
  checked: tested('program', 'oauth2-proxy', '7.15.6', 'oauth2-proxy'),
};
