/** The format of a request line, field by field (operations 5.2). */
export const REQUEST_LINE =
  /^(?<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) +(?<level>INFO|WARN|ERROR) http\.server\.response (?<id>[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}-\d+) - "(?<method>[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) (?<path>(?:[^\s"\\]|\\.)+) (?<protocol>HTTP\/\d\.\d|-)" (?<status>\d{3}) (?<reason>[^"]*?) "(?<ua>(?:[^"\\]|\\.)*)" \[polls: (?<polls>\d+), cpu: (?<cpu>\d+\.\d)ms, db: (?<db>\d+\.\d)ms, elapsed: (?<elapsed>\d+\.\d)ms, queries: (?<queries>\d+), fetched: (?<fetched>\d+)\](?: requester=(?<requester>\S+))?(?: client\.address=(?<address>[0-9a-fA-F:.]+))?(?: graphql\.operation\.type=(?<gtype>query|mutation|subscription))?(?: graphql\.operation\.name=(?<gname>[_A-Za-z][_0-9A-Za-z]*))?(?: trace\.id=(?<trace>[0-9a-f]{32}))?$/;

export interface RequestLine {
  readonly level: string;
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly polls: number;
  readonly cpu: number;
  readonly db: number;
  readonly elapsed: number;
  readonly queries: number;
  readonly fetched: number;
  readonly requester: string | undefined;
  readonly address: string | undefined;
}

/** Parses one request line. Throws when the line does not match the format completely. */
export function parseRequestLine(line: string): RequestLine {
  const groups = REQUEST_LINE.exec(line)?.groups;
  if (groups === undefined) throw new Error(`not a request line: ${line}`);
  const text = (name: string): string => groups[name] ?? '';
  return {
    level: text('level'),
    id: text('id'),
    method: text('method'),
    path: text('path'),
    status: Number(text('status')),
    polls: Number(text('polls')),
    cpu: Number(text('cpu')),
    db: Number(text('db')),
    elapsed: Number(text('elapsed')),
    queries: Number(text('queries')),
    fetched: Number(text('fetched')),
    requester: groups['requester'],
    address: groups['address'],
  };
}
