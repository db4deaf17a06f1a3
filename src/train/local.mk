libtrain_a_SOURCES = %D%/trainer.c
