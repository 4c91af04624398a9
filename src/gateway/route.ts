import type { KeyHolder } from '../accounts/keys.ts';
import type { Catalog, Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';
import type { ChatRequest } from '../openai/types.ts';

/** Finds the model that a request names and makes sure that this key may call it, with this output limit. */
export function route(catalog: Catalog, holder: KeyHolder, chat: ChatRequest): Model {
  const model = findModel(catalog, holder, chat.model);
  const limit = chat.max_completion_tokens ?? chat.max_tokens;
  if (limit !== undefined && limit > model.maxOutputTokens) {
    const param = chat.max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens';
    throw new GatewayError('invalid_value', `'${param}' is ${limit}, but ${model.id} writes at most ${model.maxOutputTokens} tokens.`, {
      param,
    });
  }
  return model;
}

/** A model by its id; 404 when there is none, 403 when the key may not use it. */
export function findModel(catalog: Catalog, holder: KeyHolder, id: string): Model {
  const model = catalog.find(id);
  if (model === undefined) {
    throw new GatewayError(
      'model_not_found',
      `The model '${id.slice(0, 128)}' does not exist or no provider for it is configured. GET /v1/models lists what there is.`,
    );
  }
  if (!mayCall(holder, id)) {
    throw new GatewayError('model_not_allowed', `This API key may not use the model '${id}'. Its allowed models are set in the dashboard.`);
  }
  return model;
}

/** Whether a key's list of models, if it has one, names this model. */
export function mayCall(holder: KeyHolder, modelId: string): boolean {
  return holder.models === undefined || holder.models.includes(modelId);
}
