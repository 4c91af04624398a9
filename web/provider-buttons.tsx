import { useMutation } from '@tanstack/react-query';
import type { JSX } from 'react';
import { goToProvider } from './providers.ts';
import type { Provider } from './providers.ts';
import { providers as t } from './strings/index.ts';
import { Button } from './ui/button.tsx';

interface ProviderButtonsProps {
  readonly providers: readonly Provider[];
  /** Page to open after signing in. */
  readonly to?: string | undefined;
  readonly invitation?: string | undefined;
  /** Called before the page is left. */
  readonly onLeave?: () => void;
}

/** A button for each identity provider; renders nothing if there is none. */
export function ProviderButtons({ providers, to, invitation, onLeave }: ProviderButtonsProps): JSX.Element | null {
  const leave = useMutation({
    mutationFn: (id: string) => {
      onLeave?.();
      return goToProvider(id, { purpose: 'sign-in', to, invitation });
    },
  });
  if (providers.length === 0) return null;
  return (
    <div className="mt-4 flex flex-col gap-3 border-t border-line pt-4">
      {providers.map(({ id, name }) => (
        <Button
          key={id}
          className="w-full"
          isBusy={leave.isPending && leave.variables === id}
          disabled={leave.isPending}
          onClick={() => leave.mutate(id)}
        >
          {t.continue(name)}
        </Button>
      ))}
      {leave.error !== null && (
        <p role="alert" className="text-sm font-medium text-bad">
          {leave.error.message}
        </p>
      )}
    </div>
  );
}
