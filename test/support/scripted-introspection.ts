/** An introspection endpoint with scripted responses, to test how a homeserver handles them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface ScriptedResponse {
  /** Defaults to 200. */
  readonly status?: number;
  readonly body: unknown;
}

export interface IntrospectionRequest {
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

export interface ScriptedIntrospection {
  readonly answers: Map<string, ScriptedResponse>;
  readonly requests: IntrospectionRequest[];
  stop(): Promise<void>;
}

/** The server metadata that it publishes. */
export const METADATA = {
  issuer: 'https://auth.example/',
  account_management_uri: 'https://auth.example/account/',
  prompt_values_supported: ['none', 'create'],
};

/** Starts the endpoint. Unknown tokens are inactive. */
export async function startScriptedIntrospection(port: number): Promise<ScriptedIntrospection> {
  const responses = new Map<string, ScriptedResponse>();
  const requests: IntrospectionRequest[] = [];
  const server = createServer((incoming, response) => void responseFor(incoming, response));

  async function responseFor(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    const form = new URLSearchParams(text);
    requests.push({ headers: incoming.headers, form });
    const { status = 200, body } = responseTo(incoming, form);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  function responseTo({ method, url }: IncomingMessage, form: URLSearchParams): ScriptedResponse {
    if (url === '/.well-known/openid-configuration') return { body: METADATA };
    if (method !== 'POST' || url !== '/oauth2/introspect') return { status: 404, body: {} };
    return responses.get(form.get('token') ?? '') ?? { body: { active: false } };
  }

  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    answers: responses,
    requests,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
