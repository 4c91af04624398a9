import { GatewayError } from '../../src/errors.ts';
import { checkChatRequest } from '../../src/openai/check-request.ts';

/** Returns the error with which a request is refused. */
export function refusalOf(body: unknown): GatewayError {
  try {
    checkChatRequest(body);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('accepted');
}
