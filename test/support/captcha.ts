/** CAPTCHA helpers: disabled checks, and a verification service on loopback. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { SignInDeps } from '#domain/browser-sessions/sign-in.ts';
import {
  type Call,
  type Called,
  type NotSent,
  OutboundHttp,
  type OutboundOptions,
} from '#platform/outbound-http/outbound-http.ts';

/** Never requires a CAPTCHA. */
export const noCaptcha: SignInDeps['captcha'] = { check: async () => ({ ok: true }), countFailure: async () => {} };

/** A loopback server that receives every outbound call, for example to a CAPTCHA service, whatever its URL. */
export interface CaptchaPeer {
  /** Received requests, with the original URL. */
  readonly asked: {
    readonly url: string;
    readonly form: Readonly<Record<string, string>>;
    readonly headers: IncomingMessage['headers'];
  }[];
  /** Sends the response. Tests may replace it. */
  answer: (form: Readonly<Record<string, string>>, response: ServerResponse) => void;
  outbound(options: OutboundOptions): OutboundHttp;
  stop(): Promise<void>;
}

export async function startCaptchaPeer(): Promise<CaptchaPeer> {
  const requested: CaptchaPeer['asked'] = [];
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the peer is bound to no port');
  const origin = `http://127.0.0.1:${bound.port}/?of=`;
  const peer: CaptchaPeer = {
    asked: requested,
    answer: () => {},
    outbound: (options) => new DivertedOutbound(options, origin),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = Object.fromEntries(new URLSearchParams(await readText(request)));
    requested.push({
      url: decodeURIComponent((request.url ?? '').slice('/?of='.length)),
      form,
      headers: request.headers,
    });
    peer.answer(form, response);
  }
  return peer;
}

/** Redirects every call to the peer. */
class DivertedOutbound extends OutboundHttp {
  readonly #origin: string;

  constructor(options: OutboundOptions, origin: string) {
    super(options);
    this.#origin = origin;
  }

  override async call(url: string, call: Call): Promise<Called | NotSent> {
    return await super.call(this.#origin + encodeURIComponent(url), call);
  }
}
