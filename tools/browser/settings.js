import { CLIENT_ID, CLIENT_SECRET } from './relying-party.js';

/** The password of every account; long enough for the strictest rules. */
export const PASSWORD = 'plum granite lantern 47';

/** A configuration in which everything that a page may show is there. @param callback of the relying party */
export function settings(callback) {
  const plenty = { burst: 1000, per_second: 10 };
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        client_auth_method: 'client_secret_basic',
        client_secret: CLIENT_SECRET,
        client_name: 'Harbour Chat',
        client_uri: 'https://app.harbour.example/',
        policy_uri: 'https://app.harbour.example/privacy',
        tos_uri: 'https://app.harbour.example/terms',
        redirect_uris: [callback],
      },
    ],
    homeserver: { kind: 'none', homeserver: 'example.org' },
    account: { password_registration_enabled: true },
    policy: { data: { admin_users: ['amira'] } },
    branding: {
      service_name: 'example.org',
      policy_uri: 'https://example.org/privacy',
      tos_uri: 'https://example.org/terms',
      imprint: 'Run by the Harbour Cooperative, Quay Street 1, Example Town',
    },
    rate_limiting: {
      login: { per_ip: plenty, per_account: { burst: 5, per_second: 0.01 } },
      registration: plenty,
      registration_check: plenty,
    },
  };
}

/** The same service without passwords: nobody can sign in or make an account. */
export function closedSettings(callback) {
  const open = settings(callback);
  return {
    ...open,
    account: { password_registration_enabled: false },
    passwords: { enabled: false },
    branding: {
      service_name: 'example.org',
      login_message: 'We are moving house until Monday. Thank you for waiting!',
    },
  };
}

/** The service of `settings` in other colors. @param brand settings of the section; @param templates directory */
export function brandedSettings(callback, brand, templates) {
  return { ...settings(callback), branding: brand, templates: { path: templates } };
}
