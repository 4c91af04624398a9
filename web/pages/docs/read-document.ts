/** The parts of an OpenAPI document that the reference shows. It is our own document, so only its outline is checked. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly description?: string }>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, OperationResponse>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface OperationResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
}

export type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** The parts of a JSON schema that are shown. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly additionalProperties?: Schema | boolean;
  readonly [limit: string]: unknown;
}

/** One operation of the API, with its method and path. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const TIMEOUT_MS = 15_000;

export async function fetchDocument(): Promise<ApiDocument> {
  const response = await fetch('/api/openapi.json', { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`The server answered with status ${response.status}.`);
  return readDocument(await response.json());
}

function readDocument(value: unknown): ApiDocument {
  const isDocument = typeof value === 'object' && value !== null && 'paths' in value && 'components' in value;
  if (!isDocument) throw new Error('The server did not send an OpenAPI document.');
  return value as unknown as ApiDocument;
}

export function endpointsOf({ paths }: ApiDocument): readonly Endpoint[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Returns the name at the end of `#/components/schemas/Name`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
