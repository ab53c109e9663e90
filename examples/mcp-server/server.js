/** An MCP server whose tools know the user: clients sign in at Latchkey, and send its access tokens. */
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';

const { ISSUER = 'http://localhost:8080', CLIENT_ID, CLIENT_SECRET, PORT = '3000' } = process.env;
const RESOURCE = new URL(`http://localhost:${PORT}/mcp`);
const SCOPE = 'notes.read';

const metadata = await fetchJson(`${ISSUER.replace(/\/$/, '')}/.well-known/openid-configuration`);

/** Checks an access token at the introspection endpoint (RFC 7662), so that a revoked one is refused at once. */
const verifier = {
  verifyAccessToken: async (token) => {
    const credentials = [CLIENT_ID, CLIENT_SECRET].map(encodeURIComponent).join(':');
    const found = await fetchJson(metadata.introspection_endpoint, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: new URLSearchParams({ token }),
    });
    // A token for another server is no token for this one (RFC 8707).
    const isForThisServer = found.active && [found.aud].flat().includes(RESOURCE.href);
    return {
      token,
      clientId: found.client_id ?? '',
      scopes: isForThisServer ? found.scope.split(' ') : [],
      expiresAt: isForThisServer ? (found.exp ?? Date.now() / 1000 + 300) : 1,
      resource: RESOURCE,
      extra: { user: found.sub, username: found.username },
    };
  },
};

const app = express();
app.use(express.json());
app.use(
  mcpAuthMetadataRouter({
    oauthMetadata: metadata,
    resourceServerUrl: RESOURCE,
    scopesSupported: [SCOPE],
    resourceName: 'Notes',
  }),
);
app.post(
  '/mcp',
  requireBearerAuth({
    verifier,
    requiredScopes: [SCOPE],
    resourceMetadataUrl: new URL('/.well-known/oauth-protected-resource/mcp', RESOURCE).href,
  }),
  async (request, response) => {
    // Without sessions, each request has a server and a transport.
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    const server = notesServer();
    response.on('close', () => {
      transport.close();
      server.close();
    });
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  },
);
app.listen(Number(PORT), 'localhost', () => process.stdout.write(`MCP server: ${RESOURCE}\n`));

function notesServer() {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  server.registerTool('whoami', { description: 'Returns the ID of the user.' }, ({ authInfo }) => ({
    content: [{ type: 'text', text: authInfo.extra.user }],
  }));
  return server;
}

async function fetchJson(url, init) {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
  return await response.json();
}
