/** A host that speaks the chat-completions dialect, so that requests can be relayed to it as they are. */
export interface Host {
  readonly baseUrl: string;
  /** The environment variable whose presence switches the host's models on. */
  readonly keyVariable: string;
  /** This host counts reasoning tokens beside the completion tokens, where the dialect counts them among them. */
  readonly countsReasoningApart?: true;
}

/** The hosts of the shipped catalogue. Others are added under `providers` in tollgate.yaml. */
export const HOSTS: Readonly<Record<string, Host>> = {
  openai: { baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', keyVariable: 'ANTHROPIC_API_KEY' },
  gemini: { baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', keyVariable: 'GEMINI_API_KEY' },
  xai: { baseUrl: 'https://api.x.ai/v1', keyVariable: 'XAI_API_KEY', countsReasoningApart: true },
  deepseek: { baseUrl: 'https://api.deepseek.com/v1', keyVariable: 'DEEPSEEK_API_KEY' },
  mistral: { baseUrl: 'https://api.mistral.ai/v1', keyVariable: 'MISTRAL_API_KEY' },
  moonshot: { baseUrl: 'https://api.moonshot.ai/v1', keyVariable: 'MOONSHOT_API_KEY' },
  cohere: { baseUrl: 'https://api.cohere.ai/compatibility/v1', keyVariable: 'COHERE_API_KEY' },
  perplexity: { baseUrl: 'https://api.perplexity.ai', keyVariable: 'PERPLEXITY_API_KEY' },
  fireworks: { baseUrl: 'https://api.fireworks.ai/inference/v1', keyVariable: 'FIREWORKS_API_KEY' },
  together: { baseUrl: 'https://api.together.xyz/v1', keyVariable: 'TOGETHER_API_KEY' },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', keyVariable: 'GROQ_API_KEY' },
  cerebras: { baseUrl: 'https://api.cerebras.ai/v1', keyVariable: 'CEREBRAS_API_KEY' },
};
