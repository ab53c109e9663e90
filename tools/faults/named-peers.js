import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.js';
import { NetworkLink } from '../../test/support/network-link.js';
import { loadTypeScript } from '../browser/load-typescript.js';

const { Browser } = await loadTypeScript('test/support/browser.ts');
const { startStandInHomeserver } = await loadTypeScript('test/support/stand-in-homeserver/stand-in-homeserver.ts');
const { startUpstreamPeer } = await loadTypeScript('test/support/upstream-peer.ts');

const SECRET = 'shared-secret-of-the-load';
const PROVIDER_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const [DATABASE, MAIL, CHAT, PROVIDER] = ['db', 'mail', 'chat', 'id'].map((name) => `${name}.example.test`);
const PLENTY = { burst: 100_000, per_second: 1_000 };
const POLL_MS = 100;

/** Servers that an instance finds by name, all at one loopback address, which changes. */
export class NamedPeers {
  #homeserver;
  #provider;
  /** `{ port, server, isDatabase }` by name. */
  #peers = new Map();
  #cables = [];
  #moves = 0;

  /**
   * @param database its host and port
   * @param mail section of the mail server
   */
  static async start(database, mail) {
    const peers = new NamedPeers();
    peers.#homeserver = await startStandInHomeserver(SECRET);
    peers.#provider = await startUpstreamPeer();
    const servers = [
      { name: DATABASE, server: database, isDatabase: true },
      { name: MAIL, server: { host: mail.hostname, port: mail.port } },
      { name: CHAT, server: placeOf(peers.#homeserver.endpoint) },
      { name: PROVIDER, server: placeOf(peers.#provider.issuer) },
    ];
    for (const { name, server, isDatabase = false } of servers) {
      peers.#peers.set(name, { port: await freePort(), server, isDatabase });
    }
    const issuer = peers.#issuer;
    const endpoints = { authorization: 'authorize', token: 'token', userinfo: 'userinfo' };
    const metadata = Object.entries(endpoints).map(([name, path]) => [`${name}_endpoint`, `${issuer}/${path}`]);
    peers.#provider.metadata = { issuer, jwks_uri: `${issuer}/keys`, ...Object.fromEntries(metadata) };
    return peers;
  }

  get #issuer() {
    return `http://${PROVIDER}:${this.#port(PROVIDER)}`;
  }

  #port(name) {
    return this.#peers.get(name).port;
  }

  /**
   * Moves to a new address. The old one falls silent, without even closing connections.
   * @returns the new address
   */
  async move() {
    for (const cable of this.#cables) cable.cut();
    this.#moves += 1;
    const address = `127.0.0.${1 + this.#moves}`;
    for (const { port, server, isDatabase } of this.#peers.values()) {
      const cable = new NetworkLink(server, { isDatabase });
      await cable.listen(port, address);
      this.#cables.push(cable);
    }
    return address;
  }

  /** Returns the section `database`. */
  database(section) {
    return { ...section, host: DATABASE, port: this.#port(DATABASE), ssl_mode: 'disable' };
  }

  /** Modifies the settings of an instance. */
  named(settings) {
    return {
      ...settings,
      email: { ...settings.email, hostname: MAIL, port: this.#port(MAIL) },
      homeserver: {
        ...{ kind: 'synapse', homeserver: this.#homeserver.serverName, secret: SECRET },
        endpoint: `http://${CHAT}:${this.#port(CHAT)}/`,
      },
      upstream_oauth2: {
        providers: [
          {
            ...{ id: PROVIDER_ID, issuer: this.#issuer, discovery_mode: 'insecure', client_id: 'latchkey' },
            token_endpoint_auth_method: 'none',
          },
        ],
      },
      rate_limiting: { ...settings.rate_limiting, upstream: { per_ip: PLENTY } },
    };
  }

  /**
   * Retries until a sign-in through the provider succeeds.
   * @returns its time in milliseconds
   */
  async untilSignedIn(base, publicBase, withinMs) {
    const startedAt = performance.now();
    for (;;) {
      if (await this.#signIn(base, publicBase)) return performance.now() - startedAt;
      if (performance.now() - startedAt > withinMs) throw new Error('nobody could sign in by the provider');
      await pause(POLL_MS);
    }
  }

  async #signIn(base, publicBase) {
    const browser = new Browser({ listener: base.slice(0, -1), publicBase });
    const { location } = await browser.get(`/upstream/authorize/${PROVIDER_ID}`);
    if (location === undefined) return false;
    const claims = { iss: this.#issuer };
    return (await browser.get(this.#provider.signIn(location, { claims }))).status === 303;
  }

  async stop() {
    for (const cable of this.#cables) cable.close();
    await this.#provider.stop();
    await this.#homeserver.stop();
  }
}

function placeOf(address) {
  return { host: '127.0.0.1', port: Number(new URL(address).port) };
}
