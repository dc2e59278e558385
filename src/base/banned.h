/* banned.h: calls that have a safer replacement become compile errors. Included last by every .c
 * file. */
#ifndef SB_BASE_BANNED_H
#define SB_BASE_BANNED_H

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef gets
#undef strtok
#undef atoi
#undef atol
#undef atof
#undef alloca
#define strcpy(...) use_memcpy_with_a_checked_length
#define strcat(...) use_sb_buf_instead
#define strncpy(...) use_memcpy_with_a_checked_length
#define strncat(...) use_sb_buf_instead
#define sprintf(...) use_snprintf
#define vsprintf(...) use_vsnprintf
#define gets(...) use_fgets
#define strtok(...) use_a_slice_loop
#define atoi(...) use_strtol_and_look_at_the_end
#define atol(...) use_strtol_and_look_at_the_end
#define atof(...) use_strtod_and_look_at_the_end
#define alloca(...) use_an_arena

#endif
