// What a picture of histograms depends on beside its numbers: colours and the language of its labels.
import { locale, plotTheme, settings } from '../../public';

export const lookNow = () => ({ theme: plotTheme(settings.dark), isDark: settings.dark, language: locale() });
