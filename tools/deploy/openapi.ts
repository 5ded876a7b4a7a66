/** What a cluster says of its own kinds (`kubectl get --raw /openapi/v2`), as a check of objects. */
import { Compile } from 'typebox/schema';

interface Schema {
  [word: string]: unknown;
  properties?: Record<string, Schema>;
}

interface Kind {
  group: string;
  version: string;
  kind: string;
}

export interface OpenApi {
  definitions: Record<string, Schema>;
}

const kindsOf = (definition: Schema): Kind[] =>
  (definition['x-kubernetes-group-version-kind'] as Kind[] | undefined) ?? [];

/** Said to be text, and taken as numbers too. */
const isNumberToo = (name: string): boolean => /\.(IntOrString|Quantity)$/.test(name);

/** As strict as the API server with `fieldValidation=Strict`: no field that it does not know. */
function strict(name: string, definition: Schema): Schema {
  if (isNumberToo(name)) return { type: ['string', 'number'] };
  return definition.properties ? { ...definition, additionalProperties: false } : definition;
}

/** Gives what the cluster would refuse of an object; nothing when it takes it. */
export function createOpenApiCheck({ definitions }: OpenApi): (object: { [field: string]: unknown }) => string[] {
  const all = Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [name, strict(name, definition)]),
  );
  return (object) => {
    const kind = `${object['apiVersion']} ${object['kind']}`;
    const [name] =
      Object.entries(definitions).find(([, definition]) => kindsOf(definition).some((one) => wordsOf(one) === kind)) ??
      [];
    if (name === undefined) return [`${kind} is no kind of this cluster`];
    const check = Compile({ $ref: `#/definitions/${name}`, definitions: all });
    const [, errors] = check.Errors(object);
    return errors.map(({ instancePath, message }) => `${kind}${instancePath}: ${message}`);
  };
}

const wordsOf = ({ group, version, kind }: Kind): string => `${group === '' ? '' : `${group}/`}${version} ${kind}`;
