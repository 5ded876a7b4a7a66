import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';

/** Pieces that many records share. */

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });

export const Uuid = Type.String({ format: 'uuid' });

/** Developer's own JSON. Size is a limit, checked in the service. */
export const Metadata = Type.Record(Type.String(), Type.Unknown());
export type Metadata = Static<typeof Metadata>;

/** Names of rooms, conversations and media nodes. */
export const Name = Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._-]+$' });

export const identityPattern = '^[A-Za-z0-9._:@|=+/-]+$';

/** An end user as the developer names them: e-mails, `auth0|x`, uuids and URNs pass. */
export const Identity = Type.String({ minLength: 1, maxLength: 128, pattern: identityPattern });

/** Free text in one line: no control characters. */
export const Line = (minLength: number, maxLength: number) =>
  Type.String({ minLength, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });

export const EnvironmentQuery = { environment: Type.Optional(Type.String()) } as const;

/** `limit` and `cursor` of a list that can grow. */
export const PageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  cursor: Type.Optional(Type.String({ maxLength: 256 })),
} as const;

/** A part of a text, in whatever case. */
export const Contains = Type.Optional(Type.String({ maxLength: 128 }));

/** A body in which unknown fields are refused instead of ignored. */
export const Strict = <P extends TProperties>(properties: P): TObject<P> =>
  Type.Object(properties, { additionalProperties: false });
