import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { JSX } from 'react';
import { digitsOf } from '../../numbers.ts';
import { callAuth } from '../../auth.ts';
import { enterDashboard, hasSession } from '../../session.ts';
import { twoFactor as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { useOnce } from '../../use-once.ts';

const route = getRouteApi('/account/two-factor');

/** Second factor of a sign-in: a code from the app, or a recovery code. */
export function TwoFactorPage(): JSX.Element {
  const { to } = route.useSearch();
  const [isRecovery, setIsRecovery] = useState(false);
  const [code, setCode] = useState('');
  const verify = useMutation({
    mutationFn: () =>
      isRecovery
        ? callAuth('POST', '/two-factor/verify-backup-code', { code: code.trim() })
        : callAuth('POST', '/two-factor/verify-totp', { code: digitsOf(code) }),
    onSuccess: () => enterDashboard(to),
  });
  // A user who is already signed in is not asked again.
  useOnce(async () => {
    if (await hasSession()) await enterDashboard(to);
  });
  const switchMethod = (): void => {
    setIsRecovery(!isRecovery);
    setCode('');
    verify.reset();
  };
  return (
    <>
      <PageHeader title={t.title} text={isRecovery ? t.recoveryText : t.text} />
      <Card>
        <Form isWide action={t.action} isBusy={verify.isPending} error={verify.error} onSubmit={() => verify.mutate()}>
          <Field label={isRecovery ? t.recoveryCode : t.code}>
            {(wiring) => (
              <TextInput
                {...wiring}
                required
                autoFocus
                autoComplete="one-time-code"
                inputMode={isRecovery ? 'text' : 'numeric'}
                spellCheck={false}
                value={code}
                onText={setCode}
              />
            )}
          </Field>
        </Form>
        <Button variant="quiet" className="mt-3 w-full" onClick={switchMethod}>
          {isRecovery ? t.useApp : t.useRecovery}
        </Button>
      </Card>
      <p className="mt-4 text-sm">
        <Link to="/sign-in" className="link">
          {t.back}
        </Link>
      </p>
    </>
  );
}
