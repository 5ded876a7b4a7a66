import { type Static, Type } from 'typebox';
import { Environment, SigningAlgorithm, SigningKeyStatus } from '../enums.ts';
import { routes } from '../route.ts';
import { EnvironmentQuery, Line, Nullable, PageQuery, Timestamp } from '../schema.ts';

/** A key by which a backend mints tokens without asking us. */
export const SigningKey = Type.Object({
  id: Type.String(),
  name: Type.String(),
  environment: Environment,
  algorithm: SigningAlgorithm,
  status: SigningKeyStatus,
  /** SPKI in PEM; null for a secret. */
  publicKey: Nullable(Type.String()),
  createdBy: Nullable(Type.String()),
  lastUsedAt: Nullable(Timestamp),
  createdAt: Timestamp,
  revokedAt: Nullable(Timestamp),
});
export type SigningKey = Static<typeof SigningKey>;

/** The one answer that shows a secret: `sgk_….…`, the id and what HS256 signs with; null for a public key. */
export const NewSigningKey = Type.Object({ ...SigningKey.properties, key: Nullable(Type.String()) });
export type NewSigningKey = Static<typeof NewSigningKey>;

export const CreateSigningKey = Type.Object({
  name: Line(1, 64),
  environment: Type.Optional(Environment),
  algorithm: SigningAlgorithm,
  /** For EdDSA (Ed25519) and ES256 (P-256): SPKI in PEM, or a JWK as JSON. */
  publicKey: Type.Optional(Type.String({ maxLength: 2_000 })),
});
export type CreateSigningKey = Static<typeof CreateSigningKey>;

export const signingKeyRoutes = routes({
  listSigningKeys: {
    at: 'GET /v1/projects/{projectId}/signing-keys',
    by: ['session'],
    needs: 'api_key:read',
    query: Type.Object({ ...EnvironmentQuery, ...PageQuery }),
    paged: true,
    returns: [200, Type.Array(SigningKey)],
    does: 'Lists signing keys without their secrets, of both environments unless one is given.',
  },
  createSigningKey: {
    at: 'POST /v1/projects/{projectId}/signing-keys',
    by: ['session'],
    needs: 'api_key:create',
    stepUp: 'inProduction',
    budget: 20,
    replay: 'credential',
    audit: 'signing_key.created',
    body: CreateSigningKey,
    returns: [201, NewSigningKey],
    throws: ['SVC_PROJECT_ARCHIVED'],
    does: 'Creates a key for minting tokens offline: gives a secret for HS256, once, or takes the public half of a pair.',
  },
  revokeSigningKey: {
    at: 'DELETE /v1/projects/{projectId}/signing-keys/{signingKeyId}',
    by: ['session'],
    needs: 'api_key:revoke',
    audit: 'signing_key.revoked',
    returns: [200, SigningKey],
    throws: ['SVC_SIGNING_KEY_NOT_FOUND'],
    does: 'Revokes a signing key: every token it signed is refused, and their sessions and sockets end within two seconds.',
  },
});
