import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import type { Config } from '#config/config.ts';

const MAX_INTROSPECTION_DEPTH = 20;
const MAX_DIRECTIVES = 50;
const MAX_QUERY_FIELDS = 20;
const MAX_MUTATION_FIELDS = 10;
const MAX_OPERATIONS = 10;
const MAX_SELECTIONS = 250;
/** Limit for fields with the same response name, over all operations. Validation compares each pair of them. */
const MAX_COMPARED_PAIRS = 100_000;
/** Also used when the validation library gives up before this module does. */
export const TOO_MANY_COMPARISONS = 'too many fields in the document have the same name';
/** Maximum number of visited fields. Fragments may be spread many times. */
const MAX_EXPANDED_FIELDS = 20_000;

export type DocumentLimits = Pick<Config['graphql'], 'maxDepth' | 'maxAliases'>;

/**
 * Returns why a parsed document is too large to validate, or undefined if it is not (account-graphql 1.7). The document
 * is not validated yet: fragments may be missing, or spread themselves.
 */
export function excessOf(document: DocumentNode, limits: DocumentLimits): string | undefined {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (operations.length > MAX_OPERATIONS) return `the document has more than ${MAX_OPERATIONS} operations`;
  const meter = new DocumentMeter(document);
  let aliases = 0;
  let pairs = 0;
  let schemas = 0;
  for (const { operation, selectionSet } of operations) {
    const size = meter.measure(selectionSet);
    if (size === 'endless') return 'the fragments in the document expand to too many fields';
    pairs += size.pairs;
    if (pairs > MAX_COMPARED_PAIRS) return TOO_MANY_COMPARISONS;
    schemas += size.schemas;
    if (schemas > 1) return 'a document may request __schema once';
    if (size.depth > limits.maxDepth) return `fields are nested more than ${limits.maxDepth} levels deep`;
    if (size.introspectionDepth > MAX_INTROSPECTION_DEPTH) return 'introspection is nested too deep';
    const maxFields = operation === 'mutation' ? MAX_MUTATION_FIELDS : MAX_QUERY_FIELDS;
    if (size.rootFields > maxFields) return `the ${operation} has more than ${maxFields} fields`;
    aliases += size.aliases;
  }
  if (aliases > limits.maxAliases) return `the document has more than ${limits.maxAliases} aliases`;
  if (meter.directives > MAX_DIRECTIVES) return `the document has more than ${MAX_DIRECTIVES} directives`;
  if (meter.maxSelections > MAX_SELECTIONS) return `a selection has more than ${MAX_SELECTIONS} fields`;
  return undefined;
}

interface OperationSize {
  readonly rootFields: number;
  readonly aliases: number;
  readonly depth: number;
  readonly introspectionDepth: number;
  /** Comparisons that validation makes between fields with the same response name. */
  readonly pairs: number;
  /** How often the whole schema is requested. */
  readonly schemas: number;
}

/** A field that one or more selections request under one response name. */
interface MergedField {
  readonly isCounted: boolean;
  readonly isIntrospection: boolean;
  count: number;
  readonly selections: Selections[];
}

/** The selection set of a field, and the fragments on the way to it. A fragment that occurs twice spreads itself. */
interface Selections {
  readonly set: SelectionSetNode;
  readonly path: ReadonlySet<string>;
}

/** Field names of the connection pattern. They do not count as a nesting level. */
const UNCOUNTED = new Set(['edges', 'nodes']);

class DocumentMeter {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly directives: number;
  readonly maxSelections: number;
  #expanded = 0;
  #aliases = 0;
  #pairs = 0;
  #depth = 0;
  #introspectionDepth = 0;
  #schemas = 0;

  constructor(document: DocumentNode) {
    const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
    const found = countNodes(document);
    this.directives = found.directives;
    this.maxSelections = found.maxSelections;
  }

  measure(root: SelectionSetNode): OperationSize | 'endless' {
    this.#aliases = 0;
    this.#pairs = 0;
    this.#depth = 0;
    this.#introspectionDepth = 0;
    this.#schemas = 0;
    const rootFields = this.#descend([{ set: root, path: new Set() }], 0, 0);
    if (this.#expanded > MAX_EXPANDED_FIELDS) return 'endless';
    return {
      rootFields,
      aliases: this.#aliases,
      pairs: this.#pairs,
      schemas: this.#schemas,
      depth: this.#depth,
      introspectionDepth: this.#introspectionDepth,
    };
  }

  /** @returns number of fields in these selections, including fields of fragments */
  #descend(selections: readonly Selections[], depth: number, introspectionDepth: number): number {
    const merged = new Map<string, MergedField>();
    for (const { set, path } of selections) this.#collect(set, merged, path);
    let fields = 0;
    for (const field of merged.values()) {
      if (this.#expanded > MAX_EXPANDED_FIELDS) return fields;
      fields += field.count;
      this.#pairs += (field.count * (field.count - 1)) / 2;
      const isIntrospection = introspectionDepth > 0 || field.isIntrospection;
      const ownDepth = depth + (field.isCounted && !isIntrospection ? 1 : 0);
      const ownIntrospectionDepth = introspectionDepth + (isIntrospection ? 1 : 0);
      this.#depth = Math.max(this.#depth, ownDepth);
      this.#introspectionDepth = Math.max(this.#introspectionDepth, ownIntrospectionDepth);
      if (field.selections.length > 0) this.#descend(field.selections, ownDepth, ownIntrospectionDepth);
    }
    return fields;
  }

  #collect(set: SelectionSetNode, merged: Map<string, MergedField>, path: ReadonlySet<string>): void {
    for (const selection of set.selections) {
      this.#expanded += 1;
      if (this.#expanded > MAX_EXPANDED_FIELDS) return;
      if (selection.kind === Kind.FIELD) {
        this.#add(merged, selection, path);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        this.#collect(selection.selectionSet, merged, path);
      } else {
        const name = selection.name.value;
        const fragment = this.#fragments.get(name);
        // Validation rejects fragments that spread themselves.
        if (fragment === undefined || path.has(name)) continue;
        this.#collect(fragment.selectionSet, merged, new Set([...path, name]));
      }
    }
  }

  #add(merged: Map<string, MergedField>, field: FieldNode, path: ReadonlySet<string>): void {
    const { name, alias, selectionSet } = field;
    if (alias !== undefined) this.#aliases += 1;
    if (name.value === '__schema') this.#schemas += 1;
    const key = alias?.value ?? name.value;
    const known = merged.get(key) ?? {
      isCounted: !UNCOUNTED.has(name.value),
      isIntrospection: name.value === '__schema' || name.value === '__type',
      count: 0,
      selections: [],
    };
    known.count += 1;
    if (selectionSet !== undefined) known.selections.push({ set: selectionSet, path });
    merged.set(key, known);
  }
}

/** Counts the directives of a document and the size of its largest selection set, without expanding fragments. */
function countNodes(document: DocumentNode): { directives: number; maxSelections: number } {
  let directives = 0;
  let maxSelections = 0;
  visit(document, {
    Directive: () => {
      directives += 1;
    },
    SelectionSet: ({ selections }) => {
      maxSelections = Math.max(maxSelections, selections.length);
    },
  });
  return { directives, maxSelections };
}
