import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const mcp: Preset = {
  slug: 'mcp',
  name: 'MCP clients',
  category: 'ai',
  url: undefined,
  client: {
    client_auth_method: 'none',
    application_type: 'native',
    redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
  },
  registersItself: true,
  scopes: ['openid', 'profile', 'email', 'offline_access'],
  groups: undefined,
  steps: [
    {
      kind: 'text',
      text:
        'Editors and agents register themselves, or publish a metadata document. Allow both in the configuration of ' +
        'Latchkey:',
    },
    {
      kind: 'file',
      name: 'latchkey.yaml',
      language: 'yaml',
      content: `policy:
  data:
    client_registration:
      preset: mcp
oauth:
  client_id_metadata_documents:
    enabled: true
`,
    },
    {
      kind: 'text',
      text: 'A client that cannot register itself gets the ID of this client, for example in its settings for the server:',
    },
    { kind: 'fields', fields: [{ label: 'Client ID', value: '{client_id}' }] },
  ],
  signOut: { fromProgram: 'No.', fromService: 'Yes, at the next request.' },
  notes: [
    { topic: 'Redirect URI', text: 'Any port works, because the client has no secret. The path must be `/callback`.' },
    {
      topic: 'Scopes of the MCP server',
      text:
        'Add them to the client, separated by spaces: `--set "scope=openid offline_access notes.read"`. The server itself ' +
        'is a resource in `oauth.resources`.',
    },
  ],
  checked: tested('library', '@modelcontextprotocol/sdk', '1.32.2', 'mcp'),
};
