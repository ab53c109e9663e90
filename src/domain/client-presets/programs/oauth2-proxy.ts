import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const oauth2Proxy: Preset = {
  slug: 'oauth2-proxy',
  name: 'oauth2-proxy',
  category: 'proxy',
  url: { example: 'https://app.example.org', note: 'The URL under which oauth2-proxy serves the application.' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/oauth2/callback'],
    post_logout_redirect_uris: ['{url}/'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups:
    '`allowed_groups` admits only members of one of these groups; other users get status 403. The application receives ' +
    'all groups in `X-Forwarded-Groups`. Changes apply at the next refresh (`cookie_refresh`).',
  steps: [
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
allowed_groups = ["staff"]
code_challenge_method = "S256"
insecure_oidc_skip_nonce = false
email_domains = ["*"]
whitelist_domains = [".example.org"]
cookie_secret = "REPLACE" # openssl rand -base64 32 | tr -- '+/' '-_'
cookie_refresh = "4m"
upstreams = ["http://127.0.0.1:3000/"]
`,
    },
    {
      kind: 'text',
      text: 'Remove `allowed_groups` to admit all users. Set `whitelist_domains` to the host of the issuer.',
    },
  ],
  signOut: {
    fromProgram:
      'With this link, from version 7.15: ' +
      '`{url}/oauth2/sign_out?rd={logout%}%3Fid_token_hint%3D%7Bid_token%7D%26post_logout_redirect_uri%3D{url%}%2F`. ' +
      'Older versions do not fill in the ID token: replace `id_token_hint%3D%7Bid_token%7D` with ' +
      '`client_id%3D{client_id}`. Users then have to confirm.',
    fromService: 'No.',
  },
  notes: [
    {
      topic: 'Headers for the application',
      text: '`X-Forwarded-User` is `sub`, `X-Forwarded-Preferred-Username` the username, `X-Forwarded-Email` the address.',
    },
    {
      topic: 'Access',
      text: '`email_domains = ["*"]` allows all users. To allow specific users, use `authenticated_emails_file` instead.',
    },
    {
      topic: '`cookie_refresh`',
      text:
        'Set it to less than the five minutes of an access token. Without it, oauth2-proxy does not check with Latchkey ' +
        'for `cookie_expire`, a week.',
    },
    {
      topic: '`backend_logout_url`',
      text: "Does not sign users out of Latchkey, because it is called without the user's browser.",
    },
    {
      topic: '"neither the id_token nor the profileURL set an email"',
      text:
        'The account has no confirmed address. To use the username instead, set ' +
        '`oidc_email_claim = "preferred_username"`.',
    },
  ],
  checked: tested('program', 'oauth2-proxy', '7.15.6', 'oauth2-proxy'),
};
