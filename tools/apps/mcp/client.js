/** An MCP client with the TypeScript SDK, as in its manual. Prints the URL for the browser, then the result. */
import { createServer } from 'node:http';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** @see OAuth Client ID Metadata Document; without one the client registers dynamically */
const [, , serverUrl, clientMetadataUrl] = process.argv;

let answer;
const answered = new Promise((resolve) => {
  answer = resolve;
});
const listener = createServer((request, response) => {
  const { searchParams } = new URL(request.url, 'http://localhost');
  response.end('signed in');
  if (searchParams.has('code')) answer(searchParams.get('code'));
});
await new Promise((resolve) => listener.listen(0, 'localhost', resolve));
const redirectUrl = `http://localhost:${listener.address().port}/callback`;

const kept = {};
const authProvider = {
  redirectUrl,
  clientMetadataUrl,
  clientMetadata: {
    client_name: 'Notes in TypeScript',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => Object.assign(kept, { client }),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => Object.assign(kept, { tokens }),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => Object.assign(kept, { verifier }),
  redirectToAuthorization: (url) => process.stdout.write(`open: ${url.href}\n`),
};

const client = new Client({ name: 'notes', version: '1.0.0' });
const transport = () => new StreamableHTTPClientTransport(new URL(serverUrl), { authProvider });
const first = transport();
try {
  await client.connect(first);
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
  await first.finishAuth(await answered);
  await client.connect(transport());
}
const { content } = await client.callTool({ name: 'whoami', arguments: {} });
process.stdout.write(`answer: ${content[0].text}\n`);
process.exit();
