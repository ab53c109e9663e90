/**
 * Looks up token owners by introspection. Validates responses as strictly as Synapse and caches them as long
 * (chat-compat 12, 18.2). Inactive responses are cached as well.
 */
import { z } from 'zod';
import { chatNames } from '#protocol/chat/names.ts';
import { ChatError, type StandInRequest, type StandInState, type StandInUser } from './state.ts';

const REMEMBERED_MS = 120_000;

const text = z.string().nullish();
const introspection = z.looseObject({
  // Synapse's own name for a member of its cache entries.
  retrieved_at_ms: z.undefined().optional(),
  active: z.boolean(),
  scope: text,
  username: text,
  sub: text,
  device_id: text,
  expires_in: z.int().nullish(),
});

interface Remembered {
  readonly answer: z.output<typeof introspection>;
  readonly retrievedAt: number;
}

export interface TokenOwner {
  readonly user: StandInUser;
  readonly deviceId: string | undefined;
}

export class TokenCheck {
  readonly #state: StandInState;
  readonly #remembered = new Map<string, Remembered>();

  constructor(state: StandInState) {
    this.#state = state;
  }

  /** Throws the error that the client receives. */
  async ownerOf(request: StandInRequest): Promise<TokenOwner> {
    const token = /^Bearer (.+)$/.exec(request.authorization ?? '')?.[1];
    if (token === undefined) throw new ChatError(401, 'M_MISSING_TOKEN', 'Missing access token');
    const { answer: response, retrievedAt } = await this.#introspect(token);
    const isOver =
      typeof response.expires_in === 'number' && this.#state.clock.now() >= retrievedAt + response.expires_in * 1000;
    if (!response.active || isOver) throw unknownToken('Token is not active');
    const scopes = (response.scope ?? '').split(' ');
    const { stableScopePrefix, unstableScopePrefix } = chatNames(this.#state.protocolName);
    const prefixes = [stableScopePrefix, unstableScopePrefix];
    if (!prefixes.some((prefix) => scopes.includes(`${prefix}api:*`)))
      throw unknownToken("Token doesn't grant access to the client API");
    const user = this.#state.users.get(response.username ?? '');
    if (user === undefined) throw new ChatError(500, 'M_FORBIDDEN', 'User not found');
    const deviceId = response.device_id ?? deviceOf(scopes, prefixes);
    if (deviceId === undefined) return { user, deviceId };
    if (deviceId.length < 1 || deviceId.length > 255)
      throw new ChatError(500, 'M_FORBIDDEN', 'Invalid device ID in introspection result');
    if (!user.devices.has(deviceId)) {
      this.#remembered.delete(token);
      throw unknownToken('Token is not active');
    }
    return { user, deviceId };
  }

  async #introspect(token: string): Promise<Remembered> {
    const now = this.#state.clock.now();
    const known = this.#remembered.get(token);
    if (known !== undefined && now < known.retrievedAt + REMEMBERED_MS) return known;
    try {
      const requested = { answer: await this.#ask(token), retrievedAt: now };
      this.#remembered.set(token, requested);
      return requested;
    } catch {
      throw new ChatError(503, 'M_UNKNOWN', 'Unable to introspect the access token');
    }
  }

  async #ask(token: string): Promise<Remembered['answer']> {
    const { service, secret } = this.#state;
    const response = await fetch(new URL('oauth2/introspect', service), {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, accept: 'application/json', 'x-mas-supports-device-id': '1' },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
    });
    if (response.status !== 200) throw new Error(`introspection: ${response.status}`);
    return introspection.parse(await response.json());
  }
}

function deviceOf(scopes: readonly string[], prefixes: readonly string[]): string | undefined {
  const devices = scopes.flatMap((scope) =>
    prefixes.flatMap((prefix) =>
      scope.startsWith(`${prefix}device:`) ? [scope.slice(`${prefix}device:`.length)] : [],
    ),
  );
  if (new Set(devices).size > 1) throw new ChatError(500, 'M_FORBIDDEN', 'Multiple device IDs in scope');
  return devices[0];
}

function unknownToken(message: string): ChatError {
  return new ChatError(401, 'M_UNKNOWN_TOKEN', message, { soft_logout: false });
}
