declare module 's3rver' {
  import type { AddressInfo } from 'node:net';
  import type { Readable } from 'node:stream';

  export interface Objects {
    putObject(object: {
      bucket: string;
      key: string;
      content: Buffer | Readable;
      metadata: object;
    }): Promise<{ size: number; md5: string }>;
    putMetadata(bucket: string, key: string, metadata: object, md5: string): Promise<void>;
    getResourcePath(bucket: string, key: string, resource: 'object'): string;
  }

  export default class S3rver {
    constructor(options: {
      port: number;
      address: string;
      directory: string;
      silent: boolean;
      configureBuckets: { name: string; configs: string[] }[];
    });
    readonly store: Objects;
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}
