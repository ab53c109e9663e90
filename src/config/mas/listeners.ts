/** Translates `http.listeners` of a MAS document. */
import { isIP } from 'node:net';
import { type ListNode, type Node, nodeOf } from '#platform/config/tree.ts';
import type { Translate } from './translation.ts';
import { isShippedPath, isTrue, textAt, textOf, withoutKeys } from './values.ts';

/** What MAS listens on without the section `http`. */
export const DEFAULT_LISTENERS = [
  {
    name: 'web',
    resources: ['discovery', 'human', 'oauth', 'compat', 'graphql', 'assets'],
    binds: [{ port: 8080 }],
    cleartext_http2: true,
  },
  { name: 'internal', resources: ['health'], binds: [{ host: 'localhost', port: 8081 }], cleartext_http2: true },
];

/** Members of the resource `graphql`, which are settings of Latchkey's section `graphql`. */
export function movedToGraphql(key: string): Translate {
  return (value, { note, set }) => {
    note('change', `is "graphql.${key}", which applies to all listeners`);
    // If one of several listeners enables it, the others do not take that back.
    if (isTrue(value)) set(['graphql', key], true);
    else if (value.kind !== 'scalar' || typeof value.value !== 'boolean') set(['graphql', key], settingOf(value));
    return undefined;
  };
}

function settingOf(node: Node): unknown {
  return node.kind === 'scalar' ? node.value : node.kind;
}

export const assetsPath: Translate = (value, { note }) => {
  const isTheirs = isShippedPath(value, 'assets');
  note(
    isTheirs ? 'change' : 'warning',
    isTheirs
      ? 'left out: Latchkey has its own assets'
      : 'ignored: Latchkey has its own assets. To serve a build of them, set "assets.path"',
  );
  return undefined;
};

function resourceName(node: Node): string | undefined {
  return textOf(node) ?? textAt(node, ['name']);
}

export const resources: Translate = (value, { note, document }) => {
  if (value.kind !== 'list') return value;
  const isExported = textAt(document, ['telemetry', 'metrics', 'exporter']) === 'prometheus';
  const seen = new Set<string>();
  const items = value.items.filter((item) => {
    const name = resourceName(item);
    if (name === undefined) return true;
    if (name === 'prometheus' && !isExported) {
      note('warning', '"prometheus" is left out, because telemetry.metrics.exporter is not "prometheus"');
      return false;
    }
    if (seen.has(name)) note('change', `"${name}" is listed once`);
    return !seen.has(name) && seen.add(name) !== undefined;
  });
  return { ...value, items };
};

const HOST_AND_PORT = /^([^:[\]\s]+):(\d{1,5})$/;

/** Keeps the first form of a bind that MAS would use. */
export const bind: Translate = (value, { note }) => {
  if (value.kind !== 'mapping') return value;
  const has = (name: string) => value.entries.has(name);
  const forms = [['host', 'port'], ['address'], ['socket', 'mode'], ['fd', 'kind']];
  const used = has('port') ? 0 : has('address') ? 1 : has('socket') ? 2 : 3;
  const others = forms.flatMap((keys, form) => (form === used ? [] : keys)).filter(has);
  if (others.length > 0) note('warning', `${others.map((key) => `"${key}"`).join(', ')} is ignored: one form is used`);
  const kept = withoutKeys(value, others);
  if (kept.entries.size === 0) return nodeOf({ fd: 0 }, value.at);
  const [, host = '', port] = HOST_AND_PORT.exec(textAt(kept, ['address']) ?? '') ?? [];
  return host === '' || isIP(host) !== 0 ? kept : nodeOf({ host, port: Number(port) }, value.at);
};

export const listeners: Translate = (value, { note }) => {
  if (value.kind !== 'list') return value;
  const seen = new Set<string>();
  const items = value.items.flatMap((item): Node[] => {
    const given = item.kind === 'mapping' ? item.entries.get('resources')?.value : undefined;
    const name = textAt(item, ['name']);
    if (given?.kind === 'list' && given.items.length === 0) {
      note('warning', `the listener "${name ?? ''}" is left out, because it serves no resource`);
      return [];
    }
    if (name === undefined || item.kind !== 'mapping') return [item];
    if (!seen.has(name)) {
      seen.add(name);
      return [item];
    }
    note('change', `the second listener named "${name}" gets its position as its name`);
    return [withoutKeys(item, ['name'])];
  });
  return items.length === 0 ? undefined : ({ ...value, items } satisfies ListNode);
};
