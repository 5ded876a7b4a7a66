/** The part of oidc-provider that our peer in tests uses; the package brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  interface Context {
    oidc: { session: { accountId: string }; client: { clientId: string } };
  }

  export default class Provider {
    constructor(issuer: string, configuration: object);
    readonly Grant: new (fields: {
      accountId: string;
      clientId: string;
    }) => Grant;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  }
  export type { Context };
}
