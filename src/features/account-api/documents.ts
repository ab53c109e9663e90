import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  type ValidationContext,
  VariablesInAllowedPositionRule,
  validate,
} from 'graphql';
import type { Config } from '#config/config.ts';
import { refusal } from './context/graphql-refusal.ts';
import { excessOf, TOO_MANY_COMPARISONS } from './document-limits.ts';
import { variablesInLenientPositions } from './lenient-variables.ts';
import { RecentTexts } from './recent-texts.ts';

/** Maximum number of errors in one response. */
export const MAX_ERRORS = 20;
const MAX_CACHED_CHARACTERS = 1024 * 1024;
/** The full message of the library when its own limit on comparisons is exceeded. */
const VALIDATION_ABORTED = 'Validation aborted.';

/** A parsed document and its validation errors. */
export interface ParsedDocument {
  readonly document: DocumentNode;
  /** Validates the document on the first call. */
  readonly problems: () => readonly GraphQLError[];
}

/**
 * Cache of parsed and validated documents by their text. Applications send the same few documents all the time. Invalid
 * documents are not cached: otherwise an attacker could evict the valid ones with cheap garbage.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #limits: Config['graphql'];
  readonly #valid = new RecentTexts<ParsedDocument>(MAX_CACHED_CHARACTERS);

  constructor(schema: GraphQLSchema, limits: Config['graphql']) {
    this.#schema = schema;
    this.#limits = limits;
  }

  /** Returns the document, or the error if the text cannot be parsed. */
  read(text: string): ParsedDocument | GraphQLError {
    const known = this.#valid.find(text);
    if (known !== undefined) return known;
    const document = this.#parse(text);
    if (document instanceof GraphQLError) return document;
    let problems: readonly GraphQLError[] | undefined;
    const made = {
      document,
      problems: () => {
        problems ??= this.#validate(document);
        if (problems.length === 0) this.#valid.keep(text, made);
        return problems;
      },
    };
    return made;
  }

  #parse(text: string): DocumentNode | GraphQLError {
    const { maxDocumentBytes, maxTokens } = this.#limits;
    if (Buffer.byteLength(text) > maxDocumentBytes) {
      return refusal('QUERY_TOO_COMPLEX', `the document has more than ${maxDocumentBytes} bytes`);
    }
    try {
      return parse(text, { maxTokens });
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      if (error.message.includes('Parsing aborted')) {
        return refusal('QUERY_TOO_COMPLEX', `the document has more than ${maxTokens} tokens`);
      }
      return withCode(error, 'GRAPHQL_PARSE_FAILED');
    }
  }

  #validate(document: DocumentNode): readonly GraphQLError[] {
    const excess = excessOf(document, this.#limits);
    if (excess !== undefined) return [refusal('QUERY_TOO_COMPLEX', excess)];
    const { hasIntrospection } = this.#limits;
    const rules = specifiedRules.map((rule) =>
      rule === VariablesInAllowedPositionRule ? variablesInLenientPositions : rule,
    );
    const extra = hasIntrospection ? [] : [withoutIntrospection];
    const options = { maxErrors: MAX_ERRORS, hideSuggestions: !hasIntrospection };
    const errors = validate(this.#schema, document, [...extra, withKnownRoot, ...rules], options);
    if (errors.some(({ message }) => message === VALIDATION_ABORTED)) {
      return [refusal('QUERY_TOO_COMPLEX', TOO_MANY_COMPARISONS)];
    }
    return errors.slice(0, MAX_ERRORS).map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED'));
  }
}

/** Rejects `__schema` and `__type`. `__typename` is always allowed. */
function withoutIntrospection(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      const name = node.name.value;
      if (name !== '__schema' && name !== '__type') return;
      context.reportError(refusal('INTROSPECTION_DISABLED', 'introspection is disabled'));
    },
  };
}

/** The rules of the specification do not cover operation types that the schema does not have. */
function withKnownRoot(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      if (context.getSchema().getRootType(node.operation) !== undefined) return;
      context.reportError(new GraphQLError(`operations of type ${node.operation} are not supported`, { nodes: node }));
    },
  };
}

function withCode(error: GraphQLError, code: string): GraphQLError {
  if (error.extensions['code'] !== undefined) return error;
  return new GraphQLError(error.message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    extensions: { code },
  });
}
