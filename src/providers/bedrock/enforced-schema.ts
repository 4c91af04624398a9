import type { JsonObject } from '../../openai/types.ts';
import { encodeSchema, isExpressible } from '../anthropic/encode-schema.ts';
import type { Capabilities } from './capabilities.ts';

/**
 * A schema that the model can be held to; undefined where it cannot. The models that can are Claude's, whose grammar takes the
 * same schemas wherever it is served.
 */
export function encodeEnforcedSchema(schema: JsonObject, { hasSchemas }: Capabilities): JsonObject | undefined {
  return hasSchemas && isExpressible(schema) ? encodeSchema(schema) : undefined;
}
