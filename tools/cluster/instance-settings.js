import { CALLBACK, CLIENT_ID, CLIENT_SECRET } from './load.js';

/** Settings of an instance used by a `Load`. Only settings that the older version of `../upgrade` supports as well. */
export function instanceSettings({ dataDir, database, port, level }) {
  const plenty = { burst: 10_000, per_second: 10_000 };
  return {
    ...{ data_dir: dataDir, database },
    http: {
      public_base: `http://127.0.0.1:${port}/`,
      listeners: [
        { resources: ['discovery', 'human', 'oauth', 'assets', 'health'], binds: [{ address: `127.0.0.1:${port}` }] },
      ],
    },
    secrets: { encryption: 'c'.repeat(64) },
    clients: [
      {
        ...{ client_id: CLIENT_ID, client_auth_method: 'client_secret_basic', client_secret: CLIENT_SECRET },
        ...{ redirect_uris: [CALLBACK], first_party: true },
      },
    ],
    rate_limiting: { login: { per_ip: plenty, per_account: plenty, per_known_browser: plenty } },
    // Longer than the test, so that no token expires.
    experimental: { access_token_ttl: 86_400 },
    oauth: { refresh_grace: 0 },
    logging: { level },
  };
}
