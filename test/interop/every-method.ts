/** Clients for every authentication method and key type, and a user with a browser, for library tests. */
import { type CryptoKey, exportJWK, generateKeyPair } from 'jose';
import type { JsonObject } from 'oauth4webapi';
import { Browser } from '../support/browser.ts';
import { type HttpsPeer, loopbackOutbound, startHttpsPeer } from '../support/https-peer.ts';
import { startService, type TestService } from '../support/service.ts';

export const CALLBACK = 'https://app.example/callback';
export const SIGNED_OUT = 'https://app.example/signed-out';
const PASSWORD = 'correct horse battery staple';

export interface MethodRow {
  readonly name: string;
  readonly method: 'client_secret_basic' | 'client_secret_post' | 'client_secret_jwt' | 'private_key_jwt' | 'none';
  /** Algorithm of the key, by the name that the libraries send. RFC 9864 has a newer one for EdDSA. */
  readonly alg: 'RS256' | 'ES256' | 'PS256' | 'Ed25519';
  readonly keysBy: 'jwks' | 'jwks_uri';
}

const ALGORITHMS = ['RS256', 'ES256', 'PS256', 'Ed25519'] as const;
const WITHOUT_KEY = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'none'] as const;

/** Methods without a key for assertions have one for request objects. */
export const METHODS: readonly MethodRow[] = [
  ...WITHOUT_KEY.map((method) => ({ name: method, method, alg: 'ES256', keysBy: 'jwks' }) as const),
  ...ALGORITHMS.flatMap((alg) =>
    (['jwks', 'jwks_uri'] as const).map(
      (keysBy) =>
        ({ name: `private_key_jwt with ${alg} by ${keysBy}`, method: 'private_key_jwt', alg, keysBy }) as const,
    ),
  ),
];

/** Registered client metadata (RFC 7591 2) and the matching key. */
export interface NewClient {
  readonly metadata: JsonObject;
  readonly key: CryptoKey;
}

export interface Provider {
  readonly service: TestService;
  readonly userId: string;
  /** Creates client metadata for the method. The consent page shows its name. */
  newClient(row: MethodRow): Promise<NewClient>;
  /** Like `newClient`, with everything that the high-security profile requires. */
  newStrictClient(row: MethodRow): Promise<NewClient>;
  /** Opens a URL and consents if asked. @returns where the browser is redirected to */
  authorize(address: URL): Promise<URL>;
  /** Enters a device's code and consents. */
  approveDevice(address: string): Promise<void>;
  /** Opens a URL. @returns where the browser is redirected to, or undefined for a page */
  open(address: URL): Promise<string | undefined>;
  stop(): Promise<void>;
}

export async function startProvider(): Promise<Provider> {
  const published = new Map<string, JsonObject>();
  const peer: HttpsPeer = await startHttpsPeer((request, response) => {
    const key = published.get(request.url ?? '');
    response.writeHead(key === undefined ? 404 : 200, { 'content-type': 'application/jwk-set+json' });
    response.end(JSON.stringify({ keys: [key] }));
  });
  const ample = { burst: 10_000, per_second: 1_000 };
  const service = await startService(
    {
      oauth: { introspection_callers: 'confidential' },
      rate_limiting: {
        login: { per_ip: ample, per_account: ample },
        client_registration: { per_ip: ample },
        device_code: { per_ip: ample },
      },
    },
    { outbound: loopbackOutbound([peer]) },
  );
  const userId = await service.registerUser('amira', PASSWORD);
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });

  const signedIn = async (): Promise<void> => {
    if (new URL(browser.page.url).pathname !== '/login') return;
    await browser.submit({ username: 'amira', password: PASSWORD });
    await browser.follow();
  };
  const newClient = async ({ name, method, alg, keysBy }: MethodRow): Promise<NewClient> => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const path = `/keys/${published.size}`;
    const jwk: JsonObject = { ...(await exportJWK(publicKey)), alg, use: 'sig', kid: `key of ${path}` };
    published.set(path, jwk);
    const isPublic = method === 'none';
    return {
      key: privateKey,
      metadata: {
        client_name: name,
        client_uri: 'https://app.example/',
        redirect_uris: [CALLBACK],
        post_logout_redirect_uris: [SIGNED_OUT],
        grant_types: [
          'authorization_code',
          'refresh_token',
          'urn:ietf:params:oauth:grant-type:device_code',
          ...(isPublic ? [] : ['client_credentials']),
        ],
        token_endpoint_auth_method: method,
        ...(method === 'client_secret_jwt' && { token_endpoint_auth_signing_alg: 'HS256' }),
        ...(method === 'private_key_jwt' && { token_endpoint_auth_signing_alg: alg }),
        ...(keysBy === 'jwks' ? { jwks: { keys: [jwk] } } : { jwks_uri: `${peer.origin}${path}` }),
      },
    };
  };

  return {
    service,
    userId,
    newClient,
    newStrictClient: async (row) => {
      const { metadata, key } = await newClient(row);
      return {
        key,
        metadata: {
          ...metadata,
          request_object_signing_alg: row.alg,
          require_signed_request_object: true,
          require_pushed_authorization_requests: true,
          dpop_bound_access_tokens: true,
          userinfo_signed_response_alg: 'ES256',
          id_token_signed_response_alg: 'ES256',
        },
      };
    },
    authorize: async (address) => {
      await browser.open(address.href);
      await signedIn();
      if (browser.page.forms.some((form) => form.action === '/authorize')) {
        await browser.submit({ action: 'consent' }, { action: '/authorize' });
      }
      return new URL(browser.page.location ?? '');
    },
    approveDevice: async (address) => {
      await browser.open(address);
      await browser.submit();
      await browser.follow();
      await signedIn();
      const { pathname } = new URL(browser.page.url);
      await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: pathname });
    },
    open: async (address) => (await browser.get(address.href)).location,
    stop: async () => {
      await service.stop();
      await peer.stop();
    },
  };
}
