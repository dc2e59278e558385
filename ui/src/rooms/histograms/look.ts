// What a picture of histograms depends on besides its data: the colours of the theme and the language of its labels.
import { locale, plotTheme, settings } from '../../public';

export const lookNow = () => ({ theme: plotTheme(settings.dark), isDark: settings.dark, language: locale() });
