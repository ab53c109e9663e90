/**
 * Defines mutations. The types of a mutation follow from one definition (account-graphql 3.1): `<Name>Input`,
 * `<Name>Payload` with its status and further fields, and the enum `<Name>Status`.
 */
import type { InputFieldMap, InputShapeFromFields, OutputRefShape, ShapeFromTypeParam } from '@pothos/core';
import type { AccountContext } from '../context/account-context.ts';
import { builder } from './builder.ts';

type Types = typeof builder.$inferSchemaTypes;

type FieldType = keyof Types['outputShapes'] | OutputRefShape<unknown>;

interface PayloadField {
  readonly type: FieldType | [FieldType];
  /** Most fields are null with some of the statuses. */
  readonly nullable?: false;
  readonly description?: string;
}

type PayloadFields = Readonly<Record<string, PayloadField>>;
type NoFields = Readonly<Record<never, never>>;

type ValueOf<Field extends PayloadField> = ShapeFromTypeParam<Types, Field['type'], false>;
type RequiredName<Fields extends PayloadFields> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly nullable: false } ? Name : never;
}[keyof Fields];

/** What a resolver returns. */
type PayloadOf<Status extends string, Fields extends PayloadFields> = { readonly status: Status } & {
  readonly [Name in RequiredName<Fields>]: ValueOf<Fields[Name]>;
} & {
  readonly [Name in Exclude<keyof Fields, RequiredName<Fields>>]?: ValueOf<Fields[Name]> | undefined;
};

interface PayloadDefinition<Status extends string, Fields extends PayloadFields> {
  /** In the order of the enum. */
  readonly statuses: readonly Status[];
  /** Fields other than `status`. */
  readonly payload?: Fields;
  readonly payloadDescription?: string;
}

interface FieldTexts {
  readonly description?: string;
  readonly deprecationReason?: string;
}

interface MutationDefinition<Input extends InputFieldMap, Payload> extends FieldTexts {
  /** Fields of the argument `input`. */
  readonly input: (t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) => Input;
  resolve(input: InputShapeFromFields<Input>, context: AccountContext): Promise<NoInfer<Payload>>;
}

/** The same without its types, which the schema guarantees. */
interface Mutation extends FieldTexts {
  readonly input: (t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) => InputFieldMap;
  resolve(input: object, context: AccountContext): Promise<object>;
}

/** Adds a mutation with the argument `input`. */
export function mutation<
  Input extends InputFieldMap,
  const Status extends string,
  Fields extends PayloadFields = NoFields,
>(
  name: string,
  definition: PayloadDefinition<Status, Fields> & MutationDefinition<Input, PayloadOf<Status, Fields>>,
): void {
  mutationWithPayload(name, payloadType(typeNameOf(name), definition), definition);
}

/** Adds a mutation whose payload has a definition of its own. */
export function mutationWithPayload<Input extends InputFieldMap, Payload extends object>(
  name: string,
  payload: PothosSchemaTypes.ObjectRef<Types, Payload>,
  definition: MutationDefinition<Input, Payload>,
): void {
  addMutation(name, payload, definition);
}

function addMutation(name: string, type: PothosSchemaTypes.ObjectRef<Types, object>, definition: Mutation): void {
  const inputType: PothosSchemaTypes.InputObjectRef<Types, object> = builder.inputType(`${typeNameOf(name)}Input`, {
    fields: definition.input,
  });
  builder.mutationField(name, (t) =>
    t.field({
      type,
      ...textsOf(definition),
      args: { input: t.arg({ type: inputType, required: true }) },
      resolve: async (_, { input }, context) => await definition.resolve(input, context),
    }),
  );
}

/** Adds a mutation without arguments. */
export function mutationWithoutInput<const Status extends string, Fields extends PayloadFields = NoFields>(
  name: string,
  definition: PayloadDefinition<Status, Fields> &
    FieldTexts & { readonly resolve: (context: AccountContext) => Promise<NoInfer<PayloadOf<Status, Fields>>> },
): void {
  const type: PothosSchemaTypes.ObjectRef<Types, object> = payloadType(typeNameOf(name), definition);
  builder.mutationField(name, (t) =>
    t.field({
      type,
      ...textsOf(definition),
      resolve: async (_, __, context) => await definition.resolve(context),
    }),
  );
}

function textsOf({ description, deprecationReason }: FieldTexts): FieldTexts {
  return {
    ...(description === undefined ? {} : { description }),
    ...(deprecationReason === undefined ? {} : { deprecationReason }),
  };
}

/** Builds `<name>Payload` and `<name>Status`. */
export function payloadType<const Status extends string, Fields extends PayloadFields = NoFields>(
  name: string,
  definition: PayloadDefinition<Status, Fields>,
) {
  const ref = builder.objectRef<PayloadOf<Status, Fields>>(`${name}Payload`);
  implementPayload(name, ref, definition);
  return ref;
}

function implementPayload(
  name: string,
  ref: PothosSchemaTypes.ObjectRef<Types, object>,
  { statuses, payload, payloadDescription }: PayloadDefinition<string, PayloadFields>,
): void {
  const status = builder.enumType(`${name}Status`, { values: statuses });
  const fields: PayloadFields = { status: { type: status, nullable: false }, ...payload };
  builder.objectType(ref, {
    ...(payloadDescription === undefined ? {} : { description: payloadDescription }),
    fields: (t) =>
      Object.fromEntries(
        Object.entries(fields).map(([field, { type, nullable = true, description }]) => {
          const options = { nullable, ...(description === undefined ? {} : { description }) };
          return [
            field,
            Array.isArray(type)
              ? t.field({ type, ...options, resolve: (parent) => listMember(parent, field) })
              : t.field({ type, ...options, resolve: (parent) => member(parent, field) }),
          ];
        }),
      ),
  });
}

function member(parent: object, name: string): unknown {
  return Reflect.get(parent, name);
}

function listMember(parent: object, name: string): readonly unknown[] | undefined {
  const value = member(parent, name);
  return Array.isArray(value) ? value : undefined;
}

/** Types write `OAuth2` where fields write `Oauth2`. */
function typeNameOf(mutationName: string): string {
  return (mutationName.charAt(0).toUpperCase() + mutationName.slice(1)).replace('Oauth2', 'OAuth2');
}
