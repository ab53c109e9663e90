/**
 * npm's `oidc-provider` with its in-memory adapter and rotation enabled; nothing is persisted. Runs on the Node.js
 * version that it requires. Its paths are set to ours, so that both servers accept the same requests.
 */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serveOrders } from '../worker.js';

const HOUR_SECONDS = 3600;
/** Its default limit of 1,000 evicts tokens that later requests present. */
const STORED_ENTRIES = 200_000;

let provider;

serveOrders(async ({ kind, folder, client, count }) => {
  if (kind === 'fill') return await fill(client.id, count);
  const load = async (file) => (await import(pathToFileURL(join(folder, file)).href)).default;
  const [Provider, MemoryAdapter, Lru] = await Promise.all(
    ['index.js', 'adapters/memory_adapter.js', 'helpers/lru.js'].map(load),
  );
  const store = new Lru({ maxSize: STORED_ENTRIES });
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  provider = new Provider(`http://127.0.0.1:${port}`, {
    ...settings(client),
    adapter: (model) => new MemoryAdapter(model, store),
  });
  server.on('request', provider.callback());
  return port;
});

function settings(client) {
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        redirect_uris: ['http://127.0.0.1/callback'],
      },
    ],
    scopes: ['openid', 'offline_access', 'bench'],
    cookies: { keys: ['the cookies of the benchmark'] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      userinfo: { enabled: true },
    },
    rotateRefreshToken: true,
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    routes: { introspection: '/oauth2/introspect', token: '/oauth2/token', userinfo: '/oauth2/userinfo' },
    ttl: {
      AccessToken: HOUR_SECONDS,
      ClientCredentials: HOUR_SECONDS,
      Grant: HOUR_SECONDS,
      RefreshToken: HOUR_SECONDS,
    },
  };
}

/**
 * Creates sessions as left by an authorization. Refresh tokens lack `openid`, like those of Latchkey in the workload
 * `refresh`: otherwise each refresh would sign an ID token.
 */
async function fill(clientId, count) {
  const client = await provider.Client.find(clientId);
  return await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const accountId = `account-${index}`;
      const grant = new provider.Grant({ accountId, clientId });
      grant.addOIDCScope('openid offline_access bench');
      const grantId = await grant.save();
      const common = { accountId, client, grantId, gty: 'authorization_code' };
      return {
        sub: accountId,
        accessToken: await new provider.AccessToken({ ...common, scope: 'openid' }).save(),
        refreshToken: await new provider.RefreshToken({ ...common, scope: 'offline_access bench' }).save(),
      };
    }),
  );
}
