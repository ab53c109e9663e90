import { CLIENT_ID } from '../../cluster/load.js';

/**
 * Modifies the settings of an instance so that all flows of the load are allowed.
 * @param publicBase shared by all instances
 * @param email section of the mail server
 */
export function openToLoad(settings, { publicBase, email }) {
  // A bucket that refills within seconds would reject a slow request that started before the others.
  const plenty = { burst: 100_000, per_second: 1_000 };
  const [listener] = settings.http.listeners;
  const resources = [...listener.resources, 'compat', 'graphql', 'adminapi'];
  return {
    ...settings,
    http: { public_base: publicBase, listeners: [{ ...listener, resources }] },
    homeserver: { kind: 'none', homeserver: 'example.org' },
    email,
    account: { password_registration_enabled: true, password_recovery_enabled: true },
    // The cost of password hashes is not under test.
    passwords: {
      minimum_complexity: 0,
      schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }],
    },
    policy: { data: { admin_clients: [CLIENT_ID] } },
    // The whole load comes from one address, and some of it from one account.
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

/** Modifies the settings of an instance so that it exposes metrics. */
export function withMetrics(settings) {
  const [listener] = settings.http.listeners;
  return {
    ...settings,
    http: { ...settings.http, listeners: [{ ...listener, resources: [...listener.resources, 'prometheus'] }] },
    telemetry: { metrics: { exporter: 'prometheus' } },
  };
}
