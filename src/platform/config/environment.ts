import type { Environment } from './dot-env.ts';
import type { Problem } from './problems.ts';
import { canonicalKey, type MappingShape, mappingOf, type Shape } from './shape.ts';
import { type MappingNode, type Node, nodeAt, nodeOf, type Origin, type Path, pathText, withValue } from './tree.ts';
import { unknownKeyMessage } from './unknown-key.ts';

const PREFIX = 'LATCHKEY__';

export interface EnvironmentSettings {
  readonly root: MappingNode;
  readonly problems: readonly Problem[];
  /** Dotted paths written with an alias, in their original spelling. */
  readonly aliases: ReadonlySet<string>;
}

/** Applies the variables `LATCHKEY__A__B` on top of the configuration files (operations 1.4). */
export function withEnvironment(
  files: MappingNode,
  environment: Environment,
  shape: MappingShape,
  origin: Omit<Origin, 'source'>,
): EnvironmentSettings {
  const overlay = new EnvironmentOverlay(files, shape);
  const variables = Object.entries(environment)
    .filter(([name]) => name.startsWith(PREFIX))
    .map(([name, text = '']) => ({ name, text, steps: name.slice(PREFIX.length).split('__') }))
    .sort((left, right) => compareSteps(left.steps, right.steps));
  for (const { name, text, steps } of variables) overlay.set(steps, text, { ...origin, source: name });
  return overlay;
}

/** Sorts a mapping before its keys, and list positions numerically, so that elements are appended in order. */
function compareSteps(left: readonly string[], right: readonly string[]): number {
  for (const [index, step] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = step.localeCompare(other, 'en', { numeric: true });
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

class EnvironmentOverlay implements EnvironmentSettings {
  root: MappingNode;
  readonly problems: Problem[] = [];
  readonly aliases = new Set<string>();
  readonly #shape: MappingShape;

  constructor(root: MappingNode, shape: MappingShape) {
    this.root = root;
    this.#shape = shape;
  }

  set(steps: readonly string[], text: string, at: Origin): void {
    const target = this.#target(steps, at);
    if (target === undefined) return;
    const [path, shape] = target;
    if (text === '' && typeof path.at(-1) === 'number') {
      this.#report(path, 'a list element cannot be unset', at);
      return;
    }
    const value = text === '' ? undefined : this.#value(text, shape, path, at);
    if (value === undefined && text !== '') return;
    const root = withValue(this.root, path, value, at);
    if (root?.kind === 'mapping') this.root = root;
  }

  /** Returns the path that the parts of a variable name refer to, and the shape defined there. */
  #target(steps: readonly string[], at: Origin): [path: Path, shape: Shape] | undefined {
    let shape: Shape = this.#shape;
    const path: (string | number)[] = [];
    for (const part of steps) {
      const name = part.toLowerCase();
      if (shape.kind === 'list') {
        if (!this.#isPosition(name, path, at)) return undefined;
        path.push(Number(name));
        shape = shape.element;
        continue;
      }
      const mapping = mappingOf(shape);
      const key = mapping === undefined ? undefined : canonicalKey(mapping, name);
      const below = key === undefined ? undefined : mapping?.keys.get(key);
      if (key === undefined || below === undefined) {
        this.#report([...path, name], unknownKeyMessage(this.#shape, path, name), at);
        return undefined;
      }
      if (key !== name) this.aliases.add(pathText([...path, name]));
      path.push(key);
      shape = below;
    }
    return [path, shape];
  }

  #isPosition(name: string, path: Path, at: Origin): boolean {
    const list = nodeAt(this.root, path);
    const length = list?.kind === 'list' ? list.items.length : 0;
    if (/^\d{1,6}$/.test(name) && Number(name) <= length) return true;
    const message = `expected a list index from 0 to ${length}, got ${JSON.stringify(name)}`;
    this.#report(path, message, at);
    return false;
  }

  #value(text: string, shape: Shape, path: Path, at: Origin): Node | undefined {
    if (shape.kind !== 'scalar' || (shape.mapping !== undefined && text.startsWith('{'))) {
      try {
        return nodeOf(JSON.parse(text), at);
      } catch {
        // The message omits the text, since a list or mapping may contain secrets.
        this.#report(path, `expected ${shape.kind === 'list' ? 'a list' : 'a mapping'} in JSON`, at);
        return undefined;
      }
    }
    if (shape.acceptsNull && text === 'null') return { kind: 'scalar', at, value: null };
    if (shape.acceptsBoolean && (text === 'true' || text === 'false')) {
      return { kind: 'scalar', at, value: text === 'true' };
    }
    const isNumber = shape.acceptsNumber && /^-?\d+(?:\.\d+)?$/.test(text);
    return { kind: 'scalar', at, value: isNumber ? Number(text) : text };
  }

  #report(path: Path, message: string, at: Origin): void {
    this.problems.push({ key: pathText(path), message, at });
  }
}
