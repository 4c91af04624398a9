import { setImmediate } from 'node:timers/promises';
import { describeModel, type Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';
import type { Incoming } from '../http/incoming.ts';
import { readPath } from '../http/request-url.ts';
import { authenticate } from './authenticate.ts';
import type { Call } from './call.ts';
import type { Gate, Reply } from './gate.ts';
import { findModel, mayCall } from './route.ts';
import { supportedParameters } from './supported-parameters.ts';

/** Handles GET /v1/models: lists the models that this key may call. */
export async function listModels(request: Incoming, call: Call, gate: Gate): Promise<Reply> {
  const holder = await authenticate(request, call, gate.keys);
  const models = gate.catalog.list().filter((model) => mayCall(holder, model.id));
  const described: string[] = [];
  for (const model of models) {
    // The first description of a model takes a moment. Streams go on between two of them.
    if (!descriptions.has(model)) await setImmediate();
    described.push(describeOnce(model, gate));
  }
  return jsonReply(`{"object":"list","data":[${described.join(',')}]}`);
}

/** Handles GET /v1/models/{id}. Ids contain slashes, which some clients escape and others do not. */
export async function retrieveModel(request: Incoming, call: Call, gate: Gate): Promise<Reply> {
  const holder = await authenticate(request, call, gate.keys);
  return jsonReply(describeOnce(findModel(gate.catalog, holder, readModelId(request)), gate));
}

const descriptions = new WeakMap<Model, string>();

/** Serialises each model once: models do not change while the server runs. */
function describeOnce(model: Model, { config }: Gate): string {
  let text = descriptions.get(model);
  if (text === undefined) {
    text = JSON.stringify(describeModel(model, supportedParameters(model, config.providers)));
    descriptions.set(model, text);
  }
  return text;
}

function readModelId(request: Incoming): string {
  try {
    return decodeURIComponent(readPath(request).replace(/^(?:\/v1)?\/models\//, ''));
  } catch (error) {
    throw new GatewayError('model_not_found', 'The model id in the URL is not correctly encoded.', { cause: error });
  }
}

function jsonReply(body: string): Reply {
  return { body, headers: { 'content-type': 'application/json' } };
}
