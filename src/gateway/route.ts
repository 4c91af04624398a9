import type { KeyHolder } from '../accounts/keys.ts';
import { matchesAny } from '../accounts/model-rules.ts';
import type { Catalog, Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';
import { callerLimitOf, type ChatRequest } from '../openai/types.ts';

/** Finds the requested model and checks that this key may call it with this output limit. */
export function route(catalog: Catalog, holder: KeyHolder, chat: ChatRequest): Model {
  const model = findModel(catalog, holder, chat.model);
  const limit = callerLimitOf(chat);
  if (limit !== undefined && limit > model.maxOutputTokens) {
    const param = chat.max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens';
    throw new GatewayError('invalid_value', `'${param}' is ${limit}, but ${model.id} writes at most ${model.maxOutputTokens} tokens.`, {
      param,
    });
  }
  return model;
}

/** Finds a model by its id. Throws 404 when it does not exist and 403 when the key may not use it. */
export function findModel(catalog: Catalog, holder: KeyHolder, id: string): Model {
  const model = catalog.find(id);
  if (model === undefined) throw unknownModel(catalog, holder, id);
  if (!mayCall(holder, id)) {
    throw new GatewayError(
      'model_not_allowed',
      `This API key may not use the model '${id}'. Use another key, or a model from GET /v1/models.`,
    );
  }
  return model;
}

function unknownModel(catalog: Catalog, holder: KeyHolder, id: string): GatewayError {
  const text = catalog.isPaused(id) ? PAUSED_MODEL : `${NO_SUCH_MODEL}${suggestion(catalog, holder, id)}`;
  return new GatewayError('model_not_found', text);
}

const PAUSED_MODEL =
  'The model in the request is unavailable: the operator took its provider out of service. GET /v1/models lists the available models.';

/** Does not repeat the name: a secret pasted into the wrong field must not end up in an error log. */
const NO_SUCH_MODEL =
  'The model in the request does not exist, or no provider for it is configured. GET /v1/models lists the available models.';

/** Suggests a full id. Most wrong names are right ones without their provider prefix. */
function suggestion(catalog: Catalog, holder: KeyHolder, id: string): string {
  const name = id.slice(id.lastIndexOf('/') + 1).toLowerCase();
  const similar = catalog.list().find((model) => mayCall(holder, model.id) && model.id.endsWith(`/${name}`));
  return similar === undefined ? '' : ` Did you mean '${similar.id}'?`;
}

/** Whether the key may call this model: its allow list, if any, names the model or its provider, and its deny list does not. */
export function mayCall({ models, deniedModels }: KeyHolder, modelId: string): boolean {
  return (models === undefined || matchesAny(models, modelId)) && (deniedModels === undefined || !matchesAny(deniedModels, modelId));
}
