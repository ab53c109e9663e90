import { decodeReceived } from '#platform/log/escaping.ts';
import type { Exchange } from './exchange.ts';

const MAX_PATH_CHARACTERS = 2048;
const MAX_USER_AGENT_CHARACTERS = 256;

/** The span of a request, with the contents of its log line. Never contains the query string (operations 7.2). */
export function requestSpan(exchange: Exchange, status: number) {
  const { clientAddress, countedMethod: method, graphqlOperation, path, request, route, task } = exchange;
  const userAgent = request.headers['user-agent'];
  const attributes = {
    'http.request.method': method,
    'http.route': route?.path,
    'http.response.status_code': status,
    'url.path': decodeReceived(path, MAX_PATH_CHARACTERS),
    'network.protocol.version': request.httpVersion,
    'user_agent.original': userAgent === undefined ? undefined : decodeReceived(userAgent, MAX_USER_AGENT_CHARACTERS),
    'client.address': clientAddress,
    'graphql.operation.type': graphqlOperation?.type,
    'graphql.operation.name': graphqlOperation?.name,
    'latchkey.task.id': task.id,
  };
  const name = `${method} ${route?.path ?? 'unmatched'}`;
  return { name, attributes, failure: status >= 500 ? String(status) : undefined };
}
