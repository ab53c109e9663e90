/**
 * Publishes the metadata of an MCP client (OAuth Client ID Metadata Document) on loopback, under a name that only
 * Latchkey resolves.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadTypeScript } from '../../browser/load-typescript.js';

const HOST = 'client.example';

/** @param folder for its certificate */
export async function startPublisher(folder) {
  const { selfSigned } = await loadTypeScript('test/support/self-signed.ts');
  const certificate = selfSigned([HOST]);
  const trusted = join(folder, 'publisher.pem');
  writeFileSync(trusted, certificate.cert, { mode: 0o644 });
  const server = createServer(certificate, (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        client_id: clientId,
        client_name: 'Notes with a document',
        redirect_uris: ['http://localhost/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const clientId = `https://${HOST}:${port}/client.json`;
  return {
    clientId,
    outbound: { allowed_networks: ['127.0.0.0/8'], allowed_ports: [443, port] },
    environment: {
      NODE_EXTRA_CA_CERTS: trusted,
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'resolve-publisher.js'))}`,
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
