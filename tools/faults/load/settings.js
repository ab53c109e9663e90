import { CLIENT_ID } from '../../cluster/load.js';

/**
 * What becomes of the settings of an instance, so that all flows of the load are open.
 * @param publicBase that of all instances. @param email section of the mail server
 */
export function openToLoad(settings, { publicBase, email }) {
  // One that fills up within seconds would refuse who asked before others, and was slower.
  const plenty = { burst: 100_000, per_second: 1_000 };
  const [listener] = settings.http.listeners;
  const resources = [...listener.resources, 'compat', 'graphql', 'adminapi'];
  return {
    ...settings,
    http: { public_base: publicBase, listeners: [{ ...listener, resources }] },
    homeserver: { kind: 'none', homeserver: 'example.org' },
    email,
    account: { password_registration_enabled: true, password_recovery_enabled: true },
    // Not what passwords cost is tried here.
    passwords: {
      minimum_complexity: 0,
      schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }],
    },
    policy: { data: { admin_clients: [CLIENT_ID] } },
    // All of the load comes from one address, and some of it from one account.
    limits: { ...settings.limits, work: { per_address: { burst: 0 }, per_account: { burst: 0 } } },
    rate_limiting: {
      ...settings.rate_limiting,
      login: { per_ip: plenty, per_account: plenty, per_known_browser: plenty },
      ...{ registration: plenty, registration_check: plenty },
      email_authentication: { per_ip: plenty, per_address: plenty },
      account_recovery: { per_ip: plenty, per_address: plenty },
      device_authorization: { per_client: plenty },
      graphql: { authenticated: plenty, anonymous: plenty },
      admin_token: { per_ip: plenty },
    },
  };
}

/** What becomes of the settings of an instance, so that it tells its figures. */
export function withMetrics(settings) {
  const [listener] = settings.http.listeners;
  return {
    ...settings,
    http: { ...settings.http, listeners: [{ ...listener, resources: [...listener.resources, 'prometheus'] }] },
    telemetry: { metrics: { exporter: 'prometheus' } },
  };
}
