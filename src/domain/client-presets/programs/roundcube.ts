import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const roundcube: Preset = {
  slug: 'roundcube',
  name: 'Roundcube with Dovecot',
  category: 'documents',
  url: { example: 'https://mail.example.org' },
  client: { client_auth_method: 'client_secret_post', redirect_uris: ['{url}/index.php/login/oauth'] },
  scopes: ['openid', 'profile', 'mail'],
  groups: undefined,
  steps: [
    {
      kind: 'text',
      text:
        "Roundcube signs in to the mail server with the user's access token (IMAP XOAUTH2), and Dovecot validates the " +
        'token at the introspection endpoint. The mailboxes are a resource with its own scope. Add it to the configuration ' +
        'of Latchkey:',
    },
    {
      kind: 'file',
      name: 'latchkey.yaml',
      language: 'yaml',
      content: `oauth:
  resources:
    - identifier: {url}/
      scopes: [mail]
`,
    },
    { kind: 'text', text: 'Create a second client for Dovecot, which prints DOVECOT_ID and DOVECOT_SECRET:' },
    {
      kind: 'command',
      content: `latchkey manage create-client --name Dovecot --set 'grant_types=["client_credentials"]'`,
    },
    {
      kind: 'file',
      name: '/etc/roundcube/config.inc.php',
      language: 'php',
      content: `$config['oauth_provider'] = 'generic';
$config['oauth_provider_name'] = 'Latchkey';
$config['oauth_client_id'] = '{client_id}';
$config['oauth_client_secret'] = '{client_secret}';
$config['oauth_auth_uri'] = '{authorize}';
$config['oauth_token_uri'] = '{token}';
$config['oauth_identity_uri'] = '{userinfo}';
$config['oauth_identity_fields'] = ['preferred_username'];
$config['oauth_scope'] = 'openid profile mail';
$config['oauth_auth_parameters'] = ['resource' => '{url}/'];
`,
    },
    {
      kind: 'file',
      name: 'Configuration of Dovecot',
      language: '',
      content: `auth_mechanisms = $auth_mechanisms xoauth2 oauthbearer
passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = /etc/dovecot/dovecot-oauth2.conf.ext
}
`,
    },
    {
      kind: 'file',
      name: '/etc/dovecot/dovecot-oauth2.conf.ext, readable by root only',
      language: '',
      content: `introspection_mode = post
introspection_url = https://DOVECOT_ID:DOVECOT_SECRET@id.example.org/oauth2/introspect
active_attribute = active
active_value = true
scope = mail
username_attribute = username
`,
    },
  ],
  signOut: {
    fromProgram: 'No.',
    fromService: 'The mailbox closes: the next request fails with "Connection to storage server failed".',
  },
  notes: [
    {
      topic: 'Scope',
      text: 'Keep `scope = mail` in Dovecot. Without it, the token of any app opens the mailbox of its user.',
    },
    {
      topic: 'Mailbox names',
      text: 'Dovecot compares `username`, the Latchkey username without a domain, with the name that Roundcube sends.',
    },
    {
      topic: '`introspection_url`',
      text: 'Use the introspection endpoint of your service. Percent-encode the secret.',
    },
    {
      topic: 'Other mail clients',
      text:
        '`latchkey manage issue-personal-token --actor USER --name Mail --scope mail` prints a token for clients that ' +
        'support XOAUTH2 or OAUTHBEARER.',
    },
  ],
  checked: tested('program', 'Roundcube', '1.6.5', 'roundcube'),
};
